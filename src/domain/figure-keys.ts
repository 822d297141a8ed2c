/** By what figures are added up. */
export const FIGURE_KEYS = ['day', 'project', 'kind', 'agent'] as const;
export type FigureKey = (typeof FIGURE_KEYS)[number];
