/** The mail of the project's agents, by thread; a person can write, answer and acknowledge. */
import { type FormEvent, useState } from 'react';
import { useAction } from '../api/action.ts';
import { pulse } from '../api/pulse.ts';
import { useAnswer } from '../api/queries.ts';
import type { MailMessage } from '../api/types.ts';
import { useParameter } from '../ui/address.ts';
import { useDraft } from '../ui/draft.ts';
import { type Field, FormPanel } from '../ui/form.tsx';
import { Markdown } from '../ui/markdown.tsx';
import { ActionButton, Button, Empty, Failure } from '../ui/parts.tsx';
import { Ago } from '../ui/time.tsx';

const REGISTER: Field[] = [{ name: 'name', label: 'Name', hint: 'One that is taken gives another.' }];
const SEND: Field[] = [
  { name: 'to', label: 'To', kind: 'words', isRequired: true },
  { name: 'subject', label: 'Subject', isRequired: true, isWide: true },
  { name: 'body_md', label: 'Message', kind: 'area', isRequired: true },
  { name: 'topic', label: 'Topic' },
  { name: 'thread_id', label: 'In the thread', hint: 'Its id; empty: a new one.' },
  { name: 'importance', label: 'Importance', kind: 'choice', choices: ['low', 'normal', 'high', 'urgent'] },
  { name: 'ack_required', label: 'Ask for an acknowledgement', kind: 'flag' },
];

/** `name`: what a person is called in this mail; `null`: that is chosen here. */
export function Mail({ project, name: given }: { project: string; name: string | null }) {
  const [filter, setFilter] = useState<Filter>({ agent_name: '', topic: '', q: '' });
  const [chosen, setChosen] = useDraft(`mail.name.${project}`);
  const [thread, setThread] = useParameter('thread', '');
  const name = given ?? chosen;
  const asked = {
    project_key: project,
    limit: 200,
    ...(thread === '' ? {} : { thread_id: thread }),
    ...Object.fromEntries(Object.entries(filter).filter(([, value]) => value.trim() !== '')),
  };
  const { data, error } = useAnswer(['mail', asked], (call) => pulse.mail.list(asked, call), {
    everyMs: 5_000,
  });
  const threads = Map.groupBy(data?.messages ?? [], ({ thread_id }) => thread_id);
  const send = useAction(pulse.mail.send, { says: 'The message is sent' });
  return (
    <div className="mail">
      <div className="row">
        {given === null && (
          <label>
            You are <input size={14} value={chosen} onChange={({ target }) => setChosen(target.value)} />
          </label>
        )}
        <Filters filter={filter} onChange={setFilter} />
      </div>
      {thread !== '' && (
        <p>
          One thread. <Button onClick={() => setThread('')}>All mail</Button>
        </p>
      )}
      {given === null && <Register project={project} onName={setChosen} />}
      {name !== '' && (
        <FormPanel
          title={`Write as ${name}`}
          label="New message"
          fields={SEND}
          draft={`mail.new.${project}`}
          action={send}
          fixed={{ project_key: project, sender_name: name }}
          submit="Send message"
        />
      )}
      <Failure error={error} />
      {data && threads.size === 0 && <Empty command="pulse mail send">No mail.</Empty>}
      {[...threads].toReversed().map(([id, messages]) => (
        <Thread key={id} messages={messages} name={name} />
      ))}
    </div>
  );
}

interface Filter {
  agent_name: string;
  topic: string;
  q: string;
}

function Filters({ filter, onChange }: { filter: Filter; onChange(filter: Filter): void }) {
  const fields = [
    ['agent_name', 'Inbox of'],
    ['topic', 'Topic'],
    ['q', 'With the words'],
  ] as const;
  return fields.map(([field, label]) => (
    <label key={field}>
      {label}{' '}
      <input
        size={14}
        value={filter[field]}
        onChange={({ target }) => onChange({ ...filter, [field]: target.value })}
      />
    </label>
  ));
}

function Register({ project, onName }: { project: string; onName(name: string): void }) {
  const register = useAction(pulse.mail.register, {
    says: 'The name is registered',
    onDone: ({ agent }) => onName(agent.name),
  });
  return (
    <FormPanel
      title="Register a name"
      label="Register a name"
      fields={REGISTER}
      draft={`mail.register.${project}`}
      action={register}
      fixed={{ project_key: project }}
      submit="Register"
    />
  );
}

function Thread({ messages, name }: { messages: readonly MailMessage[]; name: string }) {
  const [first] = messages;
  const last = messages.at(-1)!;
  const [isOpen, setIsOpen] = useState(false);
  return (
    <section className="thread">
      <h3>
        {first!.subject}{' '}
        {first!.topic && first!.topic !== first!.thread_id && <span className="dim">{first!.topic}</span>}{' '}
        <code className="dim">{first!.thread_id}</code>
      </h3>
      <ol className="rows">
        {messages.map((message) => (
          <li key={message.id} className="task">
            <p className="dim">
              <b>{message.sender_name}</b> to {message.to.join(', ')},{' '}
              <Ago at={message.created_at} suffix=" ago" />
              {message.importance !== 'normal' && <span className="tone-needs"> {message.importance}</span>}
              {message.ack_required && (message.acks.length > 0 ? ', acknowledged' : ', to be acknowledged')}
            </p>
            <Markdown text={message.body_md} />
            {message.to.includes(name) && !message.acks.some(({ agent_name }) => agent_name === name) && (
              <Acknowledge message={message} name={name} />
            )}
          </li>
        ))}
      </ol>
      {isOpen ? (
        <Reply message={last} name={name} onClose={() => setIsOpen(false)} />
      ) : (
        name !== '' && (
          <Button isQuiet onClick={() => setIsOpen(true)}>
            Reply as you
          </Button>
        )
      )}
    </section>
  );
}

function Acknowledge({ message, name }: { message: MailMessage; name: string }) {
  const acknowledge = useAction(pulse.mail.acknowledge, { says: 'It is acknowledged' });
  return (
    <>
      <ActionButton
        isQuiet
        disabled={acknowledge.isBusy}
        onClick={() => acknowledge.run({ id: message.id, agent_name: name })}
      >
        Acknowledge
      </ActionButton>
      <Failure error={acknowledge.error} />
    </>
  );
}

function Reply({ message, name, onClose }: { message: MailMessage; name: string; onClose(): void }) {
  const [text, setText] = useDraft(`mail.${message.id}`);
  const reply = useAction(pulse.mail.reply, {
    says: 'The reply is sent',
    onDone: () => {
      setText('');
      onClose();
    },
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    reply.run({ id: message.id, sender_name: name, body_md: text });
  };
  return (
    <form className="answer" onSubmit={submit}>
      <label htmlFor={`reply-${message.id}`}>Reply as {name}</label>
      <textarea
        id={`reply-${message.id}`}
        rows={2}
        value={text}
        onChange={({ target }) => setText(target.value)}
      />
      <ActionButton type="submit" isPrimary disabled={reply.isBusy || text.trim() === ''}>
        Send reply
      </ActionButton>
      <Failure error={reply.error} />
    </form>
  );
}
