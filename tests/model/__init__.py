"""The words: values, kinds, manifests and the CRDs made from them."""
