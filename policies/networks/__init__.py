"""Residual networks as policies: their files, compiled evaluation, and `NeuralPolicy`. Playing needs no torch.

Training and writing networks from torch is in `monsterzoo.training`.
"""

from .files import PRETRAINED, WEIGHTS, check_shapes, check_size, pretrained, read, write
from .policy import NeuralPolicy

__all__ = ["PRETRAINED", "WEIGHTS", "NeuralPolicy", "check_shapes", "check_size", "pretrained", "read", "write"]
