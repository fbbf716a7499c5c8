import { tokenRecord } from '../../application/ip-control/records.ts';
import type { Command } from 'commander';
import { disableToken, enableToken, issueToken, listTokens, revokeToken } from '../../application/ip-control/tokens.ts';
import {
  act,
  type ActOptions,
  collect,
  type CommandTools,
  listing,
  type ListOptions,
  narrowed,
  outputOf,
} from '../command.ts';
import { accepted, operatorContext } from '../output.ts';

type CreateOptions = ActOptions &
  Readonly<{ label: string; expires?: string; readOnly?: boolean; allow: readonly string[] }>;

const COLUMNS = ['id', 'customer', 'label', 'prefix', 'created_at', 'expires_at', 'read_only', 'last_used', 'state'];

/** `token create | list | disable | enable | revoke`. */
export function addTokenCommands(program: Command, tools: CommandTools): void {
  const token = program.command('token').description('API tokens of customers');
  act(token, 'create <customer>', 'issue a token, printed once')
    .option('--label <label>', 'what it is for', '')
    .option('--expires <when>', 'an ISO 8601 instant with offset, or a duration such as P90D')
    .option('--read-only', 'it may look, and change nothing')
    .option('--allow <cidr>', 'where requests may come from; repeatable', collect, [])
    .action((customer: string, options: CreateOptions) =>
      tools.withApplication(async (application) => {
        const { label, expires, readOnly, allow: allowedAddresses } = options;
        const wanted = { customer, label, expires, readOnly, allowedAddresses };
        const issued = accepted(await issueToken(wanted, operatorContext(application.ids, options), application));
        outputOf(options, tools).object({ id: issued.tokenId, token: issued.token }, [
          `token (shown once): ${issued.token}`,
          `id: ${issued.tokenId}`,
        ]);
      }),
    );
  listing(token, 'list [customer]', 'list tokens', {
    states: ['enabled', 'disabled'],
    since: 'what was issued',
  }).action((customer: string | undefined, options: ListOptions) =>
    tools.withApplication(async (application) => {
      const tokens = accepted(await listTokens(customer, application)).map(tokenRecord);
      const wanted = narrowed(tokens, options, {
        now: application.clock.now(),
        statusOf: ({ state }) => state,
        at: ({ created_at: at }) => at,
      });
      outputOf(options, tools).table(COLUMNS, wanted);
    }),
  );
  addSwitchCommand(token, 'disable', disableToken, tools);
  addSwitchCommand(token, 'enable', enableToken, tools);
  act(token, 'revoke <token>', 'make a token worthless; named by its id or its visible prefix').action(
    (named: string, options: ActOptions) =>
      tools.withApplication(async (application) => {
        const context = operatorContext(application.ids, options);
        const { tokenId } = accepted(await revokeToken({ tokenId: named }, context, application));
        outputOf(options, tools).object({ id: tokenId, revoked: true }, [`token ${tokenId} revoked`]);
      }),
  );
}

function addSwitchCommand(
  token: Command,
  verb: 'disable' | 'enable',
  change: typeof disableToken,
  tools: CommandTools,
): void {
  const meaning = verb === 'disable' ? 'make a token worthless until it is enabled again' : 'enable a disabled token';
  act(token, `${verb} <token>`, `${meaning}; named by its id or its visible prefix`).action(
    (named: string, options: ActOptions) =>
      tools.withApplication(async (application) => {
        const context = operatorContext(application.ids, options);
        const { tokenId } = accepted(await change({ tokenId: named }, context, application));
        outputOf(options, tools).object({ id: tokenId, state: `${verb}d` }, [`token ${tokenId} ${verb}d`]);
      }),
  );
}
