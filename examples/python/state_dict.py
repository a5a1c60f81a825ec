"""Saves a state_dict of PyTorch's into a folder that any reader of Zarr 3 opens, and loads it, to the host or a device.

    state_dict.save(model.state_dict(), "model.zarr")
    model.load_state_dict(state_dict.load("model.zarr", device="cuda"))

A save that was interrupted goes on when it is called again.
"""

import hemstitch.tensors

# numpy has none of these types: integers of their width stand for them.
INTEGERS = {"bfloat16": "int16", "float8_e4m3fn": "uint8", "float8_e5m2": "uint8"}


def type_of(tensor):
    return str(tensor.dtype).removeprefix("torch.")


def save(state, path, library=None):
    """`library`: torch, or numpy for its arrays."""
    library = library or __import__("torch")
    types = {name: type_of(tensor) for name, tensor in state.items() if type_of(tensor) in INTEGERS}
    tensors = {name: tensor.view(getattr(library, INTEGERS[types[name]])) if name in types else tensor for name, tensor in state.items()}
    hemstitch.tensors.save(tensors, path, types=types, overwrite=True, resume=True)


def load(path, device=None):
    """Tensors of PyTorch's."""
    import torch

    types = hemstitch.tensors.types(path)
    loaded = {name: torch.as_tensor(array, device=device or "cpu") for name, array in hemstitch.tensors.load(path, device=device).items()}
    return {name: tensor.view(getattr(torch, types[name])) if name in types else tensor for name, tensor in loaded.items()}
