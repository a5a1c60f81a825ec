"""Selections of integers, slices and Ellipsis, and the chunks of a regular grid that they touch."""

from __future__ import annotations

import numpy


class Axis:
    """What is selected along one axis."""

    def __init__(self, indices, is_number):
        self.indices, self.is_number, self.step = indices, is_number, indices.step

    def chunks(self, size):
        """(number of the chunk, slice of the chunk, slice of the result) for each chunk that the selection touches."""
        indices = self.indices
        done = 0
        while done < len(indices):
            number, first = divmod(indices[done], size)
            count = min(len(indices) - done, (size - first - 1) // self.step + 1)
            yield number, slice(first, first + (count - 1) * self.step + 1, self.step), slice(done, done + count)
            done += count


def axes_of(selection, shape):
    """An Axis for each of `shape`; None for other selections than these, and for those that are wrong."""
    selection = selection if isinstance(selection, tuple) else (selection,)
    plain = (int, numpy.integer, slice, type(Ellipsis))
    if not all(isinstance(one, plain) and not isinstance(one, bool) for one in selection) or sum(one is Ellipsis for one in selection) > 1:
        return None
    if Ellipsis not in selection:
        selection += (Ellipsis,)
    at = selection.index(Ellipsis)
    missing = len(shape) - (len(selection) - 1)
    if missing < 0:
        return None
    selection = selection[:at] + (slice(None),) * missing + selection[at + 1:]
    axes = []
    for one, extent in zip(selection, shape):
        if isinstance(one, slice):
            indices = range(*one.indices(extent))
            if indices.step < 1:
                return None
            axes.append(Axis(indices, False))
        else:
            if not -extent <= one < extent:
                return None
            axes.append(Axis(range(int(one) % extent, int(one) % extent + 1), True))
    return axes
