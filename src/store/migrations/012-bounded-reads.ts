import type { ColumnTypes } from './types.ts';

/** Lists, figures and looks cost the same however many sessions and iterations there are. */
export function boundedReadsMigration(_: ColumnTypes): string[] {
  return [
    `ALTER TABLE session_controls ADD COLUMN settled_iterations integer NOT NULL DEFAULT 0`,
    `UPDATE session_controls SET settled_iterations = (SELECT count(*) FROM pulse_iterations
      WHERE pulse_iterations.session_id = session_controls.session_id AND pulse_iterations.outcome IS NOT NULL)`,
    // Almost every session has no parent: as the value of an index that would be taken for a choice.
    `DROP INDEX pulse_sessions_by_parent`,
    `CREATE INDEX pulse_sessions_children ON pulse_sessions (parent_session_id, id)
      WHERE parent_session_id IS NOT NULL`,
    `CREATE INDEX pulse_sessions_newest ON pulse_sessions (id) WHERE parent_session_id IS NULL`,
    `CREATE INDEX pulse_sessions_newest_by_status ON pulse_sessions (status, id) WHERE parent_session_id IS NULL`,
    `CREATE INDEX pulse_sessions_figures ON pulse_sessions (status, spent_usd, total_tokens_used)`,
    `CREATE INDEX session_controls_figures ON session_controls (settled_iterations)`,
    `CREATE INDEX pulse_sessions_research ON pulse_sessions (project_path, created_at, id)
      WHERE kind = 'research' AND parent_session_id IS NULL`,
  ];
}
