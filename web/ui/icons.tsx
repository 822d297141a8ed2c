/** Our own icons, 16 by 16, drawn in the colour of the text beside them. They never stand alone: a word says the same. */
const PATHS = {
  pulse: 'M1.5 8.5h3l1.8-5 2.9 9 2-4h3.3',
  needs: 'M8 2.2v7M8 12.6v.9',
  working: 'M8 1.8a6.2 6.2 0 1 1-5.4 3.1',
  waiting: 'M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2Zm0 2.8V8l2.2 1.6',
  done: 'm2.8 8.6 3.4 3.4 7-7.6',
  failed: 'm4 4 8 8m0-8-8 8',
  paused: 'M5.5 3.2v9.6M10.5 3.2v9.6',
  quiet: 'M4 8h8',
  search: 'M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9Zm3.3 7.8 3.4 3.4',
  list: 'M2.5 4h11M2.5 8h11M2.5 12h11',
  new: 'M8 3v10M3 8h10',
  settings: 'M2.5 4.5h6m3 0h2M2.5 11.5h2m3 0h6M10 2.8v3.4M6 9.8v3.4',
  file: 'M4 2h5l3 3v9H4V2Zm5 0v3h3',
  right: 'm6 3.5 4.5 4.5L6 12.5',
  down: 'm3.5 6 4.5 4.5L12.5 6',
  aborted: 'M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2ZM3.8 3.8l8.4 8.4',
  close: 'm4 4 8 8m0-8-8 8',
  tool: 'm2.5 4.5 3.5 3.5-3.5 3.5M8 12h5.5',
} as const;
export type IconName = keyof typeof PATHS;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg className={`icon icon-${name}`} viewBox="0 0 16 16" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}
