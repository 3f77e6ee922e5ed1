"""Random dot stereograms of depth maps (Thimbleby, Inglis and Witten 1994)."""

import numpy as np
import tensorflow as tf


def single_image_random_dot_stereograms(
    depth_values,
    hidden_surface_removal=None,
    convergence_dots_size=None,
    dots_per_inch=None,
    eye_separation=None,
    mu=None,
    normalize=None,
    normalize_max=None,
    normalize_min=None,
    border_level=None,
    number_colors=None,
    output_image_shape=None,
    output_data_window=None,
):
    """An image whose two eyes' views differ by the depth.

    Args:
      depth_values: [rows, columns, ...] numbers; 1 is nearest.
      hidden_surface_removal: whether points that one eye cannot see are not linked. True by default.
      convergence_dots_size: size in pixels of the two dots at the bottom that help to focus; 8 by default, 0 for none.
      dots_per_inch: of the output; 72 by default.
      eye_separation: in inches; 2.5 by default.
      mu: depth of field as a share of the viewing distance; 1/3 by default.
      normalize: whether depth is scaled to 0..1 first. True by default.
      normalize_max: depth that becomes 1; the greatest if it is below `normalize_min`. -100 by default.
      normalize_min: depth that becomes 0; the least if it is above `normalize_max`. 100 by default.
      border_level: depth of the border; 0 (far) by default.
      number_colors: 2 (black and white), up to 255 (grey), 256 and more (color). 256 by default.
      output_image_shape: (columns, rows, channels); (1024, 768, 1) by default.
      output_data_window: (columns, rows) that the depth map fills, in the center; (1022, 757) by default.

    Returns:
      [rows, columns, channels] uint8. Dots are random.

    Raises:
      ValueError: the depth map is no matrix (up to trailing dimensions of 1), or the window exceeds the output.
    """

    def default(value, otherwise):
        return otherwise if value is None else value

    columns, rows, channels = default(output_image_shape, [1024, 768, 1])
    window_columns, window_rows = default(output_data_window, [1022, 757])
    if window_columns > columns or window_rows > rows:
        raise ValueError(
            f"output_data_window {(window_columns, window_rows)} must fit into output_image_shape {(columns, rows)}"
        )
    settings = dict(
        hidden=default(hidden_surface_removal, True),
        dots=default(convergence_dots_size, 8),
        eyes=round(default(eye_separation, 2.5) * default(dots_per_inch, 72)),
        mu=default(mu, 1 / 3),
        normalize=default(normalize, True),
        top=default(normalize_max, -100),
        bottom=default(normalize_min, 100),
        border=default(border_level, 0.0),
        colors=default(number_colors, 256),
        size=(rows, columns, channels),
        window=(window_rows, window_columns),
    )
    result = tf.py_func(lambda depth: _draw(depth, **settings), [tf.cast(depth_values, tf.float64)], tf.uint8)
    result.set_shape([rows, columns, channels])
    return result


def _draw(depth, hidden, dots, eyes, mu, normalize, top, bottom, border, colors, size, window):
    rows, columns, channels = size
    if depth.ndim > 2:
        depth = depth[(...,) + (0,) * (depth.ndim - 2)]
    if depth.ndim != 2:
        raise ValueError(f"depth_values must be a matrix, got shape {depth.shape}")
    if normalize:
        if top < bottom:
            top, bottom = depth.max(), depth.min()
        depth = np.clip((depth - bottom) / max(top - bottom, 1e-30), 0, 1)
    z = np.full((rows, columns), float(border))
    row0, column0 = (rows - window[0]) // 2, (columns - window[1]) // 2
    at_rows = np.arange(window[0]) * depth.shape[0] // window[0]
    at_columns = np.arange(window[1]) * depth.shape[1] // window[1]
    z[row0 : row0 + window[0], column0 : column0 + window[1]] = depth[at_rows][:, at_columns]
    random = np.random.RandomState()
    if colors > 255:
        palette = random.randint(0, 256, (rows, columns, channels))
    else:
        palette = random.randint(0, colors, (rows, columns, 1)) * (255 // max(colors - 1, 1)) * np.ones(channels, int)
    image = np.empty(size, np.uint8)
    separation = np.round((1 - mu * z) * eyes / (2 - mu * z)).astype(int)
    for y in range(rows):
        image[y] = _row(z[y], separation[y], palette[y], hidden, eyes, mu)
    if dots:
        far = int(round(eyes / 2))
        y = max(0, rows - dots * 2)
        for x in (columns // 2 - far // 2, columns // 2 + far - far // 2):
            image[y : y + dots, max(0, x - dots // 2) : x + dots // 2] = 0
    return image


def _row(z, separation, colors, hidden, eyes, mu):
    """Pixels that the two eyes see at one point of the surface get one color."""
    width = len(z)
    same = np.arange(width)
    for x in range(width):
        left = x - separation[x] // 2
        right = left + separation[x]
        if left < 0 or right >= width:
            continue
        if hidden:
            t = 1
            visible = True
            while visible:
                height = z[x] + 2 * (2 - mu * z[x]) * t / (mu * eyes)
                if height >= 1 or x - t < 0 or x + t >= width:
                    break
                visible = z[x - t] < height and z[x + t] < height
                t += 1
            if not visible:
                continue
        # Chains of links keep their order, left to right.
        link = same[left]
        while link != left and link != right:
            if link < right:
                left = link
            else:
                left, right = right, link
            link = same[left]
        same[left] = right
    row = np.empty_like(colors)
    for x in range(width - 1, -1, -1):
        row[x] = colors[x] if same[x] == x else row[same[x]]
    return row
