"""What TensorFlow 1.15 had and 2.21 has nowhere, written anew: one module for each subject.

Nothing here is imported before it is used; `old_paths` says which old path leads to which module.
"""
