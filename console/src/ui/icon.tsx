/** Drawn on a grid of 16, with strokes. */
const PATHS = {
  overview: 'M2.5 9.5 8 3l5.5 6.5M4 8v5h8V8',
  transfers: 'M3 5.5h9M9.5 3 12 5.5 9.5 8M13 10.5H4M6.5 8 4 10.5 6.5 13',
  settlement:
    'M4 4.5a1.5 1.5 0 1 1 0 .01M12 11.5a1.5 1.5 0 1 1 0 .01M5.5 4.5H10a2 2 0 0 1 2 2v3M10.5 11.5H6a2 2 0 0 1-2-2v-3',
  bank: 'M2.5 6.5 8 3l5.5 3.5h-11ZM4 6.5V12M8 6.5V12M12 6.5V12M2.5 12.5h11',
  people:
    'M6 7.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5ZM1.5 13c.4-2.3 2.2-3.5 4.500-3.5s4.100 1.200 4.500 3.500M10.500 2.700a2.500 2.500 0 0 1 0 4.600M12 9.900c1.400.5 2.300 1.600 2.500 3.100',
  webhook:
    'M8 5.500a2 2 0 1 0-1.800-2.900M7 6l-2.500 4.300M4 10.500a2 2 0 1 0 1.700 3M6 12.500h5M12 10.500a2 2 0 1 1-1 3.700M9 5.500l2.500 4.500',
  key: 'M10.500 8.500a3 3 0 1 0-2.800-2L2.500 11.700V13.500h2v-1.500H6v-1.500h1.500l1.200-1.300c.5.200 1.100.3 1.800.3Z',
  events: 'M2.500 8h2.500l1.500-4.500 3 9L11 8h2.500',
  limits: 'M3 12a5.500 5.500 0 1 1 10 0M8 10l2.500-3.500',
  inbox: 'M2.500 9.500 4 3.500h8l1.500 6v3h-11v-3ZM2.500 9.500h3.200l.8 1.500h3l.8-1.500h3.200',
  search: 'M7 11.500a4.500 4.500 0 1 0 0-9 4.500 4.500 0 0 0 0 9ZM10.300 10.300 13.500 13.500',
  journal: 'M4 2.500h7.500v11H4zM4 5.500h-1M4 8h-1M4 10.500h-1M6.500 5.500h2.500M6.500 8h2.500',
  scales: 'M8 3v10M5 13h6M3 5h10M3 5 1.500 9h3L3 5ZM13 5l-1.500 4h3L13 5Z',
  shield: 'M8 2.500 13 4v4c0 3-2 4.800-5 5.500C5 12.800 3 11 3 8V4l5-1.500ZM6 8l1.500 1.500L10.500 6.500',
  snow: 'M8 2v12M3 5l10 6M13 5 3 11',
  log: 'M3 3.500h10M3 6.500h10M3 9.500h6M3 12.500h6',
  policy: 'M4 2.500h5.500L12 5v8.500H4zM9.500 2.500V5H12M6 8h4M6 10.500h4',
  chart: 'M2.500 13.500h11M4.500 11V8M8 11V4.500M11.500 11V6.500',
  vault: 'M2.500 3h11v9h-11zM4.500 12v1.500M11.500 12v1.500M8 9.500a2 2 0 1 0 0-4 2 2 0 0 0 0 4Z',
  plus: 'M8 3.500v9M3.500 8h9',
  check: 'M3.500 8.500 6.500 11.500 12.500 4.500',
  close: 'M4 4l8 8M12 4l-8 8',
  menu: 'M2.500 4.500h11M2.500 8h11M2.500 11.500h11',
  copy: 'M5.500 5.500h7v7h-7zM3.500 10.500v-7h7',
  down: 'M4 6.500 8 10.500 12 6.500',
  right: 'M6.500 4 10.500 8 6.500 12',
  out: 'M9.500 3.500h-6v9h6M7 8h6.500M11 5.500 13.500 8 11 10.500',
  sun: 'M8 10.500a2.500 2.500 0 1 0 0-5 2.500 2.500 0 0 0 0 5ZM8 2v1.500M8 12.500V14M2 8h1.500M12.500 8H14M3.800 3.800l1 1M11.200 11.200l1 1M12.200 3.800l-1 1M4.800 11.200l-1 1',
  moon: 'M13 9.500A5.500 5.500 0 0 1 6.500 3a5.500 5.500 0 1 0 6.500 6.500Z',
  screen: 'M2.500 3.500h11v7.500h-11zM6 13.500h4',
  download: 'M8 2.500v7.500M5 7.500 8 10.500 11 7.500M3 13h10',
  refresh: 'M13 8a5 5 0 1 1-1.500-3.500M13 2.500v3h-3',
  filter: 'M2.500 4h11M4.500 8h7M6.500 12h3',
  bookmark: 'M4.500 2.500h7v11L8 10.500l-3.500 3v-11Z',
  clock: 'M8 13.500a5.500 5.500 0 1 0 0-11 5.500 5.500 0 0 0 0 11ZM8 5v3.500l2 1.500',
  alert: 'M8 2.500 14 13H2L8 2.500ZM8 6.500v3M8 11.300v.2',
  person: 'M8 8a2.500 2.500 0 1 0 0-5 2.500 2.500 0 0 0 0 5ZM3 13.500c.5-2.500 2.500-4 5-4s4.500 1.500 5 4',
  external: 'M9 3h4v4M13 3 7.500 8.500M11.500 9.500v3.500H3V4.500h3.500',
  keyboard: 'M2 4.500h12v7H2zM4.500 7h.01M7 7h.01M9.500 7h.01M12 7h.01M5 9.500h6',
} as const;

export type IconName = keyof typeof PATHS;

/** Decoration: what it stands for is said in words beside it, or in the label of the button. */
export function Icon({
  name,
  className = 'size-4',
}: {
  readonly name: IconName;
  readonly className?: string;
}) {
  return (
    <svg
      viewBox="0 0 16 16"
      className={className}
      fill="none"
      stroke="currentColor"
      strokeWidth="1.4"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
      focusable="false"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}
