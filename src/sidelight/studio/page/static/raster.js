// Draws many points into pixels: discs with soft edges, blended by hand, which a canvas cannot do as fast one by one.

export function hexToRgb(colour) {
  const value = parseInt(colour.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
}

// How much of each pixel around the middle a disc covers.
function disc(radius) {
  const reach = Math.ceil(radius);
  const cover = [];
  for (let y = -reach; y <= reach; y += 1) {
    for (let x = -reach; x <= reach; x += 1) {
      const inside = Math.min(Math.max(radius + 0.5 - Math.hypot(x, y), 0), 1);
      if (inside > 0) cover.push([x, y, inside]);
    }
  }
  return cover;
}

// points: { x, y, keys, certainty }; view: { sx, sy, dx, dy } from map to pixels; faded: which keys are pale.
export function drawPoints(image, points, view, colours, radius, background, faded) {
  const { data, width, height } = image;
  const [r0, g0, b0] = background;
  // One write per pixel; the bytes of a pixel lie in the order red, green, blue, alpha.
  new Uint32Array(data.buffer).fill(new Uint32Array(Uint8Array.of(r0, g0, b0, 255).buffer)[0]);
  // Numbers in typed arrays: the inner loop runs over every pixel of every point.
  const cover = disc(radius);
  const steps = Int32Array.from(cover, ([dx, dy]) => 4 * (dy * width + dx));
  const covered = Float32Array.from(cover, ([, , part]) => part);
  const most = Math.max(0, ...Object.keys(colours).map(Number));
  const palette = new Float32Array(3 * (most + 1));
  const weight = new Float32Array(most + 1);
  for (const [key, colour] of Object.entries(colours)) {
    palette.set(colour, 3 * key);
    weight[key] = faded && faded.has(Number(key)) ? 0.15 : 1;
  }
  const reach = Math.ceil(radius);
  const { x, y, keys, certainty } = points;
  for (let n = 0; n < x.length; n += 1) {
    const px = Math.round(x[n] * view.sx + view.dx);
    const py = Math.round(-y[n] * view.sy + view.dy);
    if (px < reach || py < reach || px >= width - reach || py >= height - reach) continue;
    const key = keys[n];
    if (key > most || weight[key] === 0) continue;
    // Certain rows are strong, doubtful ones pale.
    const sure = certainty[n] / 255;
    const strength = (0.18 + 0.72 * sure * sure) * weight[key];
    const r = palette[3 * key];
    const g = palette[3 * key + 1];
    const b = palette[3 * key + 2];
    const middle = 4 * (py * width + px);
    for (let c = 0; c < steps.length; c += 1) {
      const alpha = strength * covered[c];
      const at = middle + steps[c];
      data[at] += (r - data[at]) * alpha;
      data[at + 1] += (g - data[at + 1]) * alpha;
      data[at + 2] += (b - data[at + 2]) * alpha;
    }
  }
}

// A grid of cells over the plane, to find the row under the pointer.
export class Grid {
  constructor(x, y, cells = 128) {
    this.x = x;
    this.y = y;
    this.cells = cells;
    this.starts = new Uint32Array(cells * cells + 1);
    const cell = new Uint32Array(x.length);
    for (let n = 0; n < x.length; n += 1) {
      cell[n] = this.cell(x[n], y[n]);
      this.starts[cell[n] + 1] += 1;
    }
    for (let c = 0; c < cells * cells; c += 1) this.starts[c + 1] += this.starts[c];
    this.rows = new Uint32Array(x.length);
    const filled = this.starts.slice();
    for (let n = 0; n < x.length; n += 1) this.rows[filled[cell[n]]++] = n;
  }

  axis(value) {
    return Math.min(Math.max(Math.floor(((value + 1) / 2) * this.cells), 0), this.cells - 1);
  }

  cell(x, y) {
    return this.axis(y) * this.cells + this.axis(x);
  }

  // The nearest row within dx and dy, which are as far on the screen.
  nearest(x, y, dx, dy) {
    let best = -1;
    let least = 1;
    for (let row = this.axis(y - dy); row <= this.axis(y + dy); row += 1) {
      for (let column = this.axis(x - dx); column <= this.axis(x + dx); column += 1) {
        const cell = row * this.cells + column;
        for (let at = this.starts[cell]; at < this.starts[cell + 1]; at += 1) {
          const n = this.rows[at];
          const far = ((this.x[n] - x) / dx) ** 2 + ((this.y[n] - y) / dy) ** 2;
          if (far < least) [best, least] = [n, far];
        }
      }
    }
    return best;
  }
}

// The rows inside a closed line, by the even-odd rule.
export function inside(polygon, x, y) {
  const found = [];
  const xs = polygon.map((point) => point[0]);
  const ys = polygon.map((point) => point[1]);
  const [left, right, low, high] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  for (let n = 0; n < x.length; n += 1) {
    if (x[n] < left || x[n] > right || y[n] < low || y[n] > high) continue;
    let within = false;
    for (let i = 0, j = polygon.length - 1; i < polygon.length; j = i, i += 1) {
      const crosses = ys[i] > y[n] !== ys[j] > y[n];
      if (crosses && x[n] < ((xs[j] - xs[i]) * (y[n] - ys[i])) / (ys[j] - ys[i]) + xs[i]) within = !within;
    }
    if (within) found.push(n);
  }
  return found;
}
