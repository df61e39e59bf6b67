//! FastConformer with a TDT or CTC head: NVIDIA's Parakeet models.
