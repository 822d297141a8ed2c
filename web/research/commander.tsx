/** The commander's view of the research: a task for each experiment with its comments, and the mailbox. */
import { useRead } from '../api/queries.ts';
import type { CommanderMessage, CommanderTask } from '../api/types.ts';
import { Markdown } from '../ui/markdown.tsx';
import { Empty, Failure } from '../ui/parts.tsx';
import { Outcome } from '../ui/status.tsx';
import { Ago } from '../ui/time.tsx';

export function Commander({ id }: { id: string }) {
  const { data: tasks, error } = useRead<{ tasks: CommanderTask[] }>(`/api/research/${id}/tasks`);
  const { data: mailbox } = useRead<{ messages: CommanderMessage[] }>(`/api/research/${id}/mailbox`);
  return (
    <div className="claims">
      <section>
        <h3>Tasks</h3>
        <Failure error={error} />
        {tasks?.tasks.length === 0 && <Empty>No task yet.</Empty>}
        <ol className="rows">
          {tasks?.tasks.map((task) => (
            <li key={task.id} className="task">
              <p>
                <Outcome word={task.status} /> {task.description}
              </p>
              {task.result && <Markdown text={task.result} />}
              {task.comments.map((comment) => (
                <blockquote key={comment.number}>
                  <b>{comment.agent_name}</b> <Markdown text={comment.body} />
                </blockquote>
              ))}
            </li>
          ))}
        </ol>
      </section>
      <section>
        <h3>Mailbox</h3>
        {mailbox?.messages.length === 0 && <Empty>No message yet.</Empty>}
        <ol className="rows">
          {mailbox?.messages.map((message) => (
            <li key={message.id} className="task">
              <p className="dim">
                {message.from_agent} to {message.to_agent}, {message.message_type},{' '}
                <Ago at={message.created_at} suffix=" ago" />
              </p>
              <Markdown text={message.body} />
            </li>
          ))}
        </ol>
      </section>
    </div>
  );
}
