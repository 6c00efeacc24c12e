/** Paths on a 16×16 grid, drawn in the text color. */
const PATHS = {
  plus: "M8 3v10M3 8h10",
  search: "M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10zM10.6 10.6 14 14",
  close: "M4 4l8 8M12 4l-8 8",
  back: "M9.5 3.5 5 8l4.5 4.5",
  send: "M8 13V3M3.5 7.5 8 3l4.5 4.5",
  stop: "M4.5 4.5h7v7h-7z",
  copy: "M6 6h7v7H6zM10 6V3H3v7h3",
  check: "M3 8.5 6.5 12 13 4.5",
  cross: "M4.5 4.5l7 7M11.5 4.5l-7 7",
  down: "M4 6l4 4 4-4",
  right: "M6 4l4 4-4 4",
  more: "M3.5 8h.01M8 8h.01M12.5 8h.01",
  pencil: "M3 13l.7-3L10.5 3.2l2.3 2.3L6 12.3z",
  trash: "M3 4.5h10M6 4.5V3h4v1.5M4.5 4.5l.5 8.5h6l.5-8.5",
  undo: "M6 3 3 6l3 3M3 6h6a4 4 0 0 1 0 8H6",
  retry: "M13 8a5 5 0 1 1-1.5-3.5L13 6M13 2.5V6H9.5",
  fork: "M8 13.5V9L4 3M8 9l4-6",
  branches: "M4.5 2.5v11M4.5 5.5h4a3 3 0 0 1 3 3v5",
  link: "M6.5 9.5l3-3M7 4.5l1.5-1.5a3 3 0 0 1 4.5 4.5L11.5 9M9 11.5 7.5 13A3 3 0 0 1 3 8.5L4.5 7",
  tool: "M13 4.5a3.5 3.5 0 0 1-4.7 4L4.5 12.4a1.2 1.2 0 0 1-1.8-1.8L6.5 6.7A3.5 3.5 0 0 1 11 2.3L9 4.3l.3 1.6 1.6.3z",
  agents:
    "M6 7.5a2.2 2.2 0 1 0 0-4.4 2.2 2.2 0 0 0 0 4.4zM2 13c0-2.5 1.7-4 4-4s4 1.5 4 4M11 7.3a1.9 1.9 0 1 0-.6-3.7M11.4 9.2c1.6.3 2.6 1.7 2.6 3.8",
  thought: "M8 3a5 4 0 0 1 0 8c-.6 0-1.2-.1-1.8-.3L3.5 12l.6-2.2A4 4 0 0 1 8 3z",
  file: "M4 2.5h5L12 5.5v8H4zM9 2.5v3h3",
  tree: "M3 3h4M5 3v9h4M5 7.5h4M11 7.5h2M11 12h2",
  waterfall: "M2.5 3.5h6M5 8h6M8 12.5h5.5",
  log: "M3 4h10M3 8h10M3 12h6",
  key: "M5.5 12.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zM7.5 8.5 13 3M11 5l2 2",
  ask: "M6 6a2 2 0 1 1 3 1.8c-.7.4-1 .8-1 1.7M8 12.2h.01",
  clock: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM8 5v3l2 1.5",
  inbox: "M2.5 9 4.5 3h7l2 6v4h-11zM2.5 9H6l1 1.8h2L10 9h3.5",
  download: "M8 2.5v7M5 7l3 3 3-3M3 13h10",
  bolt: "M9 2 4 9h3.5L7 14l5-7H8.5z",
} as const;

export type IconName = keyof typeof PATHS;

/** A decorative icon, hidden from screen readers. */
export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      <path d={PATHS[name]} />
    </svg>
  );
}
