import type { Command } from 'commander';
import { issueAdminToken, listAdminTokens, revokeAdminToken } from '../../application/ip-control/admin-tokens.ts';
import { act, type ActOptions, type CommandTools, listing, type ListOptions, narrowed, outputOf } from '../command.ts';
import { accepted, operatorContext } from '../output.ts';

type CreateOptions = ActOptions & Readonly<{ scopes: string; label: string; expires?: string }>;

/** `admin token create | list | revoke`. */
export function addAdminTokenCommands(admin: Command, tools: CommandTools): void {
  const token = admin.command('token').description('tokens of administrators for the administration API');
  act(token, 'create <name>', 'issue a token of an account, printed once')
    .requiredOption(
      '--scopes <list>',
      "what it may do, separated by commas: read,customers:write; at most what the account's role may",
    )
    .option('--label <label>', 'what it is for', '')
    .option('--expires <instant-or-duration>', 'when it runs out (P90D; at most P365D)')
    .action((account: string, options: CreateOptions) =>
      tools.withApplication(async (application) => {
        const scopes = options.scopes.split(',').map((scope) => scope.trim());
        const wanted = { account, scopes, label: options.label, expires: options.expires };
        const issued = accepted(await issueAdminToken(wanted, operatorContext(application.ids, options), application));
        const shown = { id: issued.tokenId, token: issued.token, scopes: issued.scopes, expires_at: issued.until };
        outputOf(options, tools).object(shown, [
          `token (shown once): ${issued.token}`,
          `id: ${issued.tokenId}`,
          `it runs out at ${issued.until}`,
        ]);
      }),
    );
  listing(token, 'list [name]', 'list tokens of accounts', { since: 'what was issued' }).action(
    (account: string | undefined, options: ListOptions) =>
      tools.withApplication(async (application) => {
        const listed = accepted(await listAdminTokens(account, application));
        const now = application.clock.now();
        const rows = narrowed(listed, options, { now, at: ({ issuedAt }) => issuedAt }).map((one) => ({
          id: one.tokenId,
          account: one.account,
          label: one.label,
          scopes: options.json === true ? one.scopes : one.scopes.join(','),
          created_at: one.issuedAt,
          created_by: one.issuedBy,
          expires_at: one.until,
        }));
        outputOf(options, tools).table(['id', 'account', 'label', 'scopes', 'expires_at'], rows);
      }),
  );
  act(token, 'revoke <token-id>', 'make a token worthless').action((id: string, options: ActOptions) =>
    tools.withApplication(async (application) => {
      const context = operatorContext(application.ids, options);
      const { tokenId, account } = accepted(await revokeAdminToken({ id }, context, application));
      outputOf(options, tools).object({ id: tokenId, account, revoked: true }, [
        `token ${tokenId} of ${account} revoked`,
      ]);
    }),
  );
}
