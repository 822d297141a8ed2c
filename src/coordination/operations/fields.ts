/** Fields that several operations of coordination share. Their names are those of the agents' tools. */
import { id, required, text } from '../../operations/fields.ts';
import { MOST_IN_AGENT_NAME, MOST_IN_LABEL } from '../bounds.ts';

export const project_key = text(4096, {
  help: 'The project: a folder of its repository, or its id (here; over HTTP the only one that knows the name).',
  option: 'path DIR',
});

/** For what is listed. */
export const listedProject = {
  ...project_key,
  help: 'Only of this project: a folder of its repository, or its id.',
};

/** Of a message that is named by its id: with it, one of another project is none. */
export const messageProject = text(4096, {
  help: 'The project of the message: a folder of its repository, or its id.',
  on: ['http', 'mcp'],
});

export const agent_name = required(
  text(MOST_IN_AGENT_NAME, { help: 'Who, by the name in mail.', option: 'as NAME' }),
);

export const sender_name = required(
  text(MOST_IN_AGENT_NAME, { help: 'Who writes, by the name in mail.', option: 'from NAME' }),
);

export const topic = text(MOST_IN_LABEL, { help: 'The topic, such as epic-7.', option: 'topic T' });

export const message_id = required(id(100, { help: 'Which message.', pathName: 'id' }));
