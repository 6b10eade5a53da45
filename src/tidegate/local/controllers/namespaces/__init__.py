"""What every namespace has from its first moment: the ServiceAccount `default` and the ConfigMap `kube-root-ca.crt`."""
