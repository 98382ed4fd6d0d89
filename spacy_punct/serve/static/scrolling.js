// Two panes that scroll together.

export function scrollTogether(one, other) {
  const expected = new Map();
  const follow = (from, to) => {
    if (Math.abs(from.scrollTop - expected.get(from)) < 2) {
      expected.delete(from); // it was moved by the other
      return;
    }
    const room = (pane) => Math.max(pane.scrollHeight - pane.clientHeight, 0);
    const share = from.scrollTop / Math.max(room(from), 1);
    const place = Math.round(share * room(to));
    if (Math.abs(to.scrollTop - place) < 2) return;
    expected.set(to, place);
    to.scrollTop = place;
  };
  one.addEventListener("scroll", () => follow(one, other), { passive: true });
  other.addEventListener("scroll", () => follow(other, one), { passive: true });
}
