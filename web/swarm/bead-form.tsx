/** Changing a bead: what was changed is sent, the rest stays as it is. */
import { type FormEvent, useState } from 'react';
import { useAction } from '../api/action.ts';
import { pulse } from '../api/pulse.ts';
import type { Bead } from '../api/types.ts';
import { bodyOf, type Field, Fields, type Values } from '../ui/form.tsx';
import { ActionButton, Button, Failure } from '../ui/parts.tsx';

const FIELDS: Field[] = [
  { name: 'title', label: 'Title', isRequired: true, isWide: true },
  { name: 'body', label: 'What is to be done', kind: 'area' },
  { name: 'status', label: 'Status', kind: 'choice', choices: ['open', 'in_progress', 'blocked'] },
  { name: 'priority', label: 'Priority', kind: 'number', hint: '0 is the most urgent.' },
  { name: 'type', label: 'Type' },
  { name: 'epic', label: 'Epic' },
  { name: 'dependencies', label: 'After these beads', kind: 'words' },
  { name: 'labels', label: 'Labels', kind: 'words' },
  { name: 'files', label: 'Files', kind: 'lines', hint: 'One path or pattern a line.' },
  { name: 'verify', label: 'Verify', kind: 'lines', hint: 'One command a line.' },
  { name: 'testing_mode', label: 'Testing mode', kind: 'choice', choices: ['standard', 'tdd-required'] },
];

interface BeadFormProps {
  bead: Bead;
  project: string;
  onClose(): void;
}

export function BeadForm({ bead, project, onClose }: BeadFormProps) {
  const [before] = useState(() => valuesOf(bead));
  const [values, setValues] = useState(before);
  const update = useAction(pulse.bead.update, { says: 'The bead is changed', onDone: onClose });
  const [fault, setFault] = useState<unknown>(null);
  const isChanged = FIELDS.some(({ name }) => values[name] !== before[name]);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    setFault(null);
    try {
      update.run({ id: bead.id, project_key: project, ...changesOf(bead, { before, values }) });
    } catch (error) {
      setFault(error);
    }
  };
  return (
    <form className="stack" aria-label="Edit bead" onSubmit={submit}>
      <Fields
        fields={FIELDS}
        values={values}
        onChange={(name, value) => setValues({ ...values, [name]: value })}
      />
      <Failure error={fault ?? update.error} />
      <p className="row">
        <ActionButton
          type="submit"
          isPrimary
          disabled={update.isBusy || values.title?.trim() === '' || !isChanged}
        >
          Save bead
        </ActionButton>
        <Button onClick={onClose}>Cancel</Button>
      </p>
    </form>
  );
}

function valuesOf(bead: Bead): Values {
  return {
    ...{ title: bead.title, body: bead.body, status: bead.status, priority: String(bead.priority) },
    ...{ type: bead.type, epic: bead.epic ?? '', testing_mode: bead.testing_mode ?? '' },
    ...{ dependencies: bead.dependencies.join(' '), labels: bead.labels.join(' ') },
    ...{ files: bead.files.join('\n'), verify: bead.verify.map(({ command }) => command).join('\n') },
  };
}

/** A command that stays keeps what it is expected to say. */
function changesOf(
  bead: Pick<Bead, 'verify'>,
  { before, values }: { before: Values; values: Values },
): Record<string, unknown> {
  const changed = FIELDS.filter(({ name }) => values[name] !== before[name]);
  const given = bodyOf(changed, values);
  // Of what was emptied only a list can be empty.
  for (const { name, kind } of changed)
    if (!(name in given) && (kind === 'lines' || kind === 'words')) given[name] = [];
  if (given.verify)
    given.verify = (given.verify as string[]).map(
      (command) => bead.verify.find((check) => check.command === command) ?? command,
    );
  return given;
}
