"""Several components per class, with a penalty on pairs (Zhao and Miller)."""
