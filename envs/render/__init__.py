"""Drawing: scenes made from what a seat knows, as pictures, windows and text.

Games draw with the shapes of `scene` and the tables of `parts`. `perspective` makes the scene of a position for one
observer, `picture` paints it with pygame, `renderer` is `render()` of the environments. Nothing here is compiled, and
nothing here decides what a seat may see: that is what a game's `look` does.
"""
