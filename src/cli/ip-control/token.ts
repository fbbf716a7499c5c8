import type { Command } from 'commander';
import { issueToken, listTokens, revokeToken } from '../../application/ip-control/tokens.ts';
import { type CommandTools, leaf, outputOf } from '../command.ts';
import { accepted, operatorContext } from '../output.ts';

/** `token create | list | revoke`. */
export function addTokenCommands(program: Command, tools: CommandTools): void {
  const token = program.command('token').description('API tokens of customers');
  leaf(token, 'create <customer>', 'issue a token, printed once')
    .option('--label <label>', 'what it is for', '')
    .action((customer: string, options: { label: string; json?: boolean }) =>
      tools.withApplication(async (application) => {
        const wanted = { customer, label: options.label };
        const issued = accepted(await issueToken(wanted, operatorContext(application.ids), application));
        outputOf(options, tools).object({ id: issued.tokenId, token: issued.token }, [
          `token (shown once): ${issued.token}`,
          `id: ${issued.tokenId}`,
        ]);
      }),
    );
  leaf(token, 'list [customer]', 'list tokens').action((customer: string | undefined, options: { json?: boolean }) =>
    tools.withApplication(async (application) => {
      const tokens = accepted(await listTokens(customer, application));
      const rows = tokens.map(({ tokenId, customer: name, label }) => ({ id: tokenId, customer: name, label }));
      outputOf(options, tools).table(['id', 'customer', 'label'], rows);
    }),
  );
  leaf(token, 'revoke <token-id>', 'make a token worthless').action((tokenId: string, options: { json?: boolean }) =>
    tools.withApplication(async (application) => {
      accepted(await revokeToken(tokenId, operatorContext(application.ids), application));
      outputOf(options, tools).object({ id: tokenId, revoked: true }, [`token ${tokenId} revoked`]);
    }),
  );
}
