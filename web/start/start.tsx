/** Starting any loop: what, where, by whom, within which limits; looked at before it is begun. */
import { type FormEvent, useState } from 'react';
import { useAction } from '../api/action.ts';
import { useRead } from '../api/queries.ts';
import type { Check } from '../api/types.ts';
import { sessionAddress, useGo, useParameter } from '../ui/address.ts';
import { Fields, NumberBox, Panel } from '../ui/form.tsx';
import { ActionButton, Button, Failure } from '../ui/parts.tsx';
import { CheckResult } from './check-result.tsx';
import {
  type Fields as FieldValues,
  inputOf,
  KINDS,
  type Kind,
  moreOf,
  ROUTES,
  useFields,
} from './fields.ts';
import { PlanLater, Planned } from './planned.tsx';

interface Project {
  id: string;
  name: string;
  path: string;
  isThere: boolean;
}

interface Agent {
  name: string;
  isInstalled: boolean;
}

export default function Start() {
  const [asked, setKind] = useParameter('kind', 'goal');
  const kind = (KINDS.some(({ name }) => name === asked) ? asked : 'goal') as Kind;
  const [fields, setField] = useFields();
  const [fault, setFault] = useState<Error | null>(null);
  const go = useGo();
  const check = useAction<Check>('/api/check');
  const start = useAction<{ sessionId: string; session: { id: string; kind: string } }>(ROUTES[kind], {
    says: 'It has started',
    onDone: ({ session }) => go(sessionAddress(session)),
  });
  const read = (): Record<string, unknown> | null => {
    try {
      setFault(null);
      return inputOf(kind, fields);
    } catch (error) {
      setFault(error as Error);
      return null;
    }
  };
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const input = read();
    if (input) start.run(input);
  };
  const tryIt = (): void => {
    const input = read();
    if (input) check.run({ kind, input });
  };
  return (
    <form className="start" onSubmit={submit}>
      <header className="page-head">
        <h1>New session</h1>
      </header>
      <fieldset className="choice">
        <legend className="unseen">Kind</legend>
        {KINDS.map(({ name, label }) => (
          <label key={name}>
            <input type="radio" name="kind" checked={kind === name} onChange={() => setKind(name)} /> {label}
          </label>
        ))}
      </fieldset>
      <What kind={kind} fields={fields} setField={setField} />
      <Where fields={fields} setField={setField} />
      <Limits kind={kind} fields={fields} setField={setField} />
      <Panel title="More">
        <Fields
          fields={moreOf(kind)}
          values={fields}
          onChange={(name, value) => setField(name as keyof FieldValues, value)}
        />
      </Panel>
      <p className="row">
        <ActionButton type="submit" isPrimary disabled={start.isBusy}>
          Start
        </ActionButton>
        <Button onClick={tryIt} disabled={check.isBusy}>
          Check first
        </Button>
      </p>
      <Failure error={fault ?? start.error ?? check.error} />
      {check.result && <CheckResult check={check.result} />}
      <PlanLater kind={kind} read={read} />
      <Planned />
    </form>
  );
}

interface PartProps {
  fields: FieldValues;
  setField(name: keyof FieldValues, value: string): void;
}

function What({ kind, fields, setField }: PartProps & { kind: Kind }) {
  return (
    <div className="stack">
      {(kind === 'goal' || kind === 'workflow') && (
        <label>
          Goal
          <textarea rows={3} value={fields.goal} onChange={({ target }) => setField('goal', target.value)} />
        </label>
      )}
      {kind === 'goal' && (
        <label>
          Verify{' '}
          <textarea
            rows={2}
            className="code"
            placeholder="npm test"
            value={fields.verify}
            onChange={({ target }) => setField('verify', target.value)}
          />
          <span className="hint">
            One command a line. Without one, its completion is UNVERIFIED unless the config has some.
          </span>
        </label>
      )}
      {kind === 'workflow' && (
        <label>
          Plan, as JSON
          <textarea
            rows={6}
            className="code"
            placeholder='{"title": "…", "pulses": [{"id": "a", "title": "…", "description": "…"}]}'
            value={fields.plan}
            onChange={({ target }) => setField('plan', target.value)}
          />
          <span className="hint">Without a plan an agent drafts one for the goal, and you approve it.</span>
        </label>
      )}
      {kind === 'research' && (
        <label>
          Research, as JSON
          <textarea
            rows={8}
            className="code"
            placeholder='{"goal": "…", "metric": {"name": "time", "direction": "lower", "verifyCommand": "node bench.js"}, "scope": {"inScope": ["src/**"]}}'
            value={fields.research}
            onChange={({ target }) => setField('research', target.value)}
          />
        </label>
      )}
      {kind === 'swarm' && (
        <div className="row">
          <label>
            Epic <input value={fields.epic} onChange={({ target }) => setField('epic', target.value)} />
          </label>
          <NumberBox
            label="Workers"
            size={4}
            value={fields.workers}
            onChange={(value) => setField('workers', value)}
          />
        </div>
      )}
    </div>
  );
}

function Where({ fields, setField }: PartProps) {
  const { data: projects } = useRead<{ projects: Project[] }>('/api/projects');
  const { data: agents } = useRead<{ agents: Agent[] }>('/api/agents');
  return (
    <div className="row">
      <label className="grow">
        Repository
        <input
          list="projects"
          placeholder="/home/you/code/project"
          value={fields.projectPath}
          onChange={({ target }) => setField('projectPath', target.value)}
        />
        <datalist id="projects">
          {projects?.projects
            .filter(({ isThere }) => isThere)
            .map(({ id, path }) => (
              <option key={id} value={path} />
            ))}
        </datalist>
      </label>
      <label>
        Agent
        <select value={fields.agent} onChange={({ target }) => setField('agent', target.value)}>
          <option value="">as configured</option>
          {agents?.agents.map(({ name, isInstalled }) => (
            <option key={name} value={name} disabled={!isInstalled}>
              {isInstalled ? name : `${name} (not installed)`}
            </option>
          ))}
        </select>
      </label>
      <label className="grow">
        Command, instead of an agent
        <input value={fields.command} onChange={({ target }) => setField('command', target.value)} />
      </label>
    </div>
  );
}

function Limits({ kind, fields, setField }: PartProps & { kind: Kind }) {
  return (
    <div className="row">
      {(kind === 'goal' || kind === 'research') && (
        <NumberBox
          label={kind === 'goal' ? 'Iterations' : 'Experiments'}
          size={6}
          placeholder="10"
          value={fields.iterations}
          onChange={(value) => setField('iterations', value)}
        />
      )}
      <NumberBox
        label="Budget, USD"
        kind="usd"
        size={6}
        placeholder="10"
        value={fields.budgetUsd}
        onChange={(value) => setField('budgetUsd', value)}
      />
      <label>
        Time
        <input
          size={6}
          placeholder="8h"
          value={fields.timeLimit}
          onChange={({ target }) => setField('timeLimit', target.value)}
        />
      </label>
      <label>
        Base branch
        <input value={fields.base} onChange={({ target }) => setField('base', target.value)} />
      </label>
      <label className="inline">
        <input
          type="checkbox"
          checked={fields.trust === 'yes'}
          onChange={({ target }) => setField('trust', target.checked ? 'yes' : '')}
        />{' '}
        Trust the repository's own config
      </label>
    </div>
  );
}
