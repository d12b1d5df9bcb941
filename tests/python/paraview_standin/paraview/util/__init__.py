"""ParaView's helpers for plugins."""
