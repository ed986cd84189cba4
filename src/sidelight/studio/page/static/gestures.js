// Pointer, fingers and wheel on the map: one draws a line around rows, two move and zoom.

const LONGEST_TAP = 4;

// Tells `map`, once it is `ready`, what is done, with places in `pixels` of its canvas: `hover` (null where the pointer has left), `tap`, `begin`
// and `go` along a line, `end` of it, `leave` without one, `move` by pixels, and `zoom` by a factor around a place.
export function followPointers(canvas, map) {
  const held = new Map();
  let mode = null;
  let from = null;
  let travelled = 0;
  const at = (event) => {
    const box = canvas.getBoundingClientRect();
    return [(event.clientX - box.left) * map.pixels(), (event.clientY - box.top) * map.pixels()];
  };
  canvas.addEventListener("pointerdown", (event) => {
    if (!map.ready()) return;
    canvas.setPointerCapture(event.pointerId);
    from = at(event);
    held.set(event.pointerId, from);
    travelled = 0;
    if (held.size > 1) {
      if (mode === "line") map.leave();
      mode = "fingers";
    } else if (event.shiftKey || event.button === 1) {
      mode = "move";
    } else {
      mode = "line";
      map.begin(from);
    }
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!map.ready()) return;
    const here = at(event);
    if (!mode) {
      map.hover(here);
      return;
    }
    const before = held.get(event.pointerId);
    if (!before) return;
    travelled = Math.max(travelled, Math.hypot(here[0] - from[0], here[1] - from[1]));
    if (mode === "line") map.go(here);
    else if (mode === "move") map.move(here[0] - before[0], here[1] - before[1]);
    else {
      const other = [...held].find(([id]) => id !== event.pointerId)?.[1];
      // The finger that rests is half of what moves the map; distances say how far it is zoomed.
      if (other) {
        map.move((here[0] - before[0]) / 2, (here[1] - before[1]) / 2);
        const spread = (place) => Math.max(Math.hypot(place[0] - other[0], place[1] - other[1]), 1);
        map.zoom(spread(here) / spread(before), [(here[0] + other[0]) / 2, (here[1] + other[1]) / 2]);
      }
    }
    held.set(event.pointerId, here);
  });
  const lift = (event) => {
    held.delete(event.pointerId);
    if (held.size) return;
    const was = mode;
    mode = null;
    if (was !== "line") return;
    if (event.type === "pointercancel") map.leave();
    else if (travelled < LONGEST_TAP) map.tap(at(event));
    else map.end();
  };
  canvas.addEventListener("pointerup", lift);
  canvas.addEventListener("pointercancel", lift);
  canvas.addEventListener("pointerleave", (event) => {
    // A finger leaves when it is lifted; what it tapped stays shown.
    if (!mode && event.pointerType === "mouse") map.hover(null);
  });
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    map.zoom(Math.exp(-event.deltaY / 400), at(event));
  }, { passive: false });
}
