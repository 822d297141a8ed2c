/** What coordination adds to the command line. */
import type { CommandSpec } from '../../cli/command-spec.ts';
import { describeActions, describeCommand } from '../../cli/operation-command.ts';
import * as mail from '../operations/mail-definitions.ts';
import { release, reserve } from '../operations/reservation-definitions.ts';

/** What each word after `pulse mail` does. */
export const MAIL_ACTIONS = {
  register: mail.register,
  send: mail.send,
  reply: mail.reply,
  inbox: mail.inbox,
  topic: mail.showTopic,
  search: mail.search,
  ack: mail.acknowledge,
} as const;
export type MailAction = keyof typeof MAIL_ACTIONS;
const NAMES = Object.keys(MAIL_ACTIONS) as MailAction[];

const PATHS_HELP = 'Files of the repository, or patterns in quotes: * ? [a] [!a] {a,b} **.';

export const COORDINATION_COMMANDS: readonly CommandSpec[] = [
  {
    name: 'mail',
    group: 'Coordinate',
    summary: 'Write to the agents of this project, and read what they write.',
    details:
      'register [NAME]: a name for mail; one that is taken gives another, such as NAME-2.\n' +
      'send --from A --to B --subject S --body T: to one agent or several; if a name is unknown, nobody gets it.\n' +
      'reply ID --from A --body T: to the sender of a message, in its thread and topic.\n' +
      'inbox --as A [--topic T], topic T, search WORDS: messages, oldest first.\n' +
      'ack ID --as A: acknowledge a message that A got.',
    arguments: [
      { name: 'ACTION', choices: NAMES, help: NAMES.join(', ') },
      {
        name: 'WHAT',
        isOptional: true,
        isRepeated: true,
        help: 'register: the name. reply, ack: the message’s id. topic: the topic. search: the words. send: more names.',
      },
    ],
    options: describeActions(MAIL_ACTIONS),
    examples: [
      'pulse mail register Fox',
      'pulse mail send --from Fox --to Owl --subject "Ready" --body "The parser is done." --topic epic-7',
      'pulse mail inbox --as Owl',
      'pulse mail search parser done',
    ],
    load: () => import('./mail.ts'),
  },
  {
    ...describeCommand(reserve),
    group: 'Coordinate',
    details:
      'Exit 0: all of it is reserved. Exit 1: another holds some of it, and nothing was reserved. Reserving again ' +
      'renews. Two patterns stand in each other’s way when a path matches both. What a person reserves ends by ' +
      'pulse release, or after its time; what an agent’s run reserves ends with the run.',
    arguments: [{ name: 'PATH', isOptional: true, isRepeated: true, help: PATHS_HELP }],
    options: [
      ...(describeCommand(reserve).options ?? []),
      { name: 'list', help: 'Show who has reserved what, and reserve nothing.' },
    ],
    isPersonOnly: false,
    examples: [
      'pulse reserve src/parser.ts "test/**/parser*" --as Fox --ttl 2h',
      'pulse reserve README.md --as Owl --shared',
      'pulse reserve --list',
    ],
    load: () => import('./reserve.ts'),
  },
  {
    ...describeCommand(release),
    group: 'Coordinate',
    details: 'Exit 1: nothing of the agent’s was reserved under these paths.',
    arguments: [
      {
        name: 'PATH',
        isOptional: true,
        isRepeated: true,
        help: 'As it was reserved; without one all of the agent’s.',
      },
    ],
    examples: ['pulse release src/parser.ts --as Fox', 'pulse release --as Fox'],
    load: () => import('./release.ts'),
  },
];
