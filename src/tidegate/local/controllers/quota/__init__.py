"""ResourceQuotas: `status.used`, counted afresh. The arithmetic is in `quota_usage`, which admission uses too."""
