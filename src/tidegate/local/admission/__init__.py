"""Admission: what may change or refuse a write between its body and the store."""
