/** Everything that is known of a session, to be kept: as data, or as a report that people read. */
import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi';
import { PulseError } from '../domain/errors.ts';
import type { SessionExport } from '../operations/export.ts';
import type { Pulse } from '../pulse.ts';
import type { ApiEnv } from './guard.ts';
import { refusals } from './route.ts';

const FORMATS = ['json', 'html', 'md'] as const;
export type ReportFormat = Exclude<(typeof FORMATS)[number], 'json'>;

const TYPES = { json: 'application/json', html: 'text/html', md: 'text/markdown' };

export interface ExportRoute {
  pulse: Pick<Pulse, 'export'>;
  /** What people read is written by who writes it for the command line, too. */
  writeReport?(format: ReportFormat, content: SessionExport): Promise<string>;
}

export function addExportRoute(app: OpenAPIHono<ApiEnv>, { pulse, writeReport }: ExportRoute): void {
  app.openapi(exportRoute, async (c) => {
    const { format = 'json' } = c.req.valid('query');
    if (format !== 'json' && !writeReport)
      throw new PulseError('invalid_input', `This server writes no ${format}.`, { hint: 'format=json' });
    const content = await pulse.export(c.req.valid('param').id);
    const text = format === 'json' ? JSON.stringify(content) : await writeReport!(format, content);
    return c.body(text, 200, {
      'Content-Type': `${TYPES[format]}; charset=utf-8`,
      // A report is of texts that agents wrote: it is kept as a file, and is no page of this server.
      'Content-Disposition': `attachment; filename="${content.session.id}.${format}"`,
    });
  });
}

const exportRoute = createRoute({
  method: 'get',
  path: '/api/pulse/{id}/export',
  summary: 'Everything that is known of a session: as data, as a page that needs nothing else, as Markdown.',
  request: {
    params: z.object({ id: z.string().min(1).max(100) }),
    query: z.object({ format: z.enum(FORMATS).optional() }),
  },
  responses: {
    200: {
      description: 'A file to keep.',
      content: {
        'application/json': {
          schema: z.looseObject({ session: z.looseObject({}), iterations: z.array(z.looseObject({})) }),
        },
        'text/html': { schema: z.string() },
        'text/markdown': { schema: z.string() },
      },
    },
    ...refusals(404, 409, 422),
  },
});
