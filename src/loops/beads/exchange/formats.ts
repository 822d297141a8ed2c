export const IMPORT_FORMATS = ['issues', 'draft', 'markdown', 'ralph', 'task-master', 'github'] as const;
export type ImportFormat = (typeof IMPORT_FORMATS)[number];
