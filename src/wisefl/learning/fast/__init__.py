"""The paper's CNN as compiled vector code; nothing here needs PyTorch."""
