import { createHash } from 'node:crypto';
import type { Command } from 'commander';
import { DIRECTORY_ID } from '../../commands/ip-control/directory.ts';
import type { Registered } from '../../commands/ip-control/customer-state.ts';
import { type CommandTools, leaf, outputOf } from '../command.ts';
import type { Application } from '../../application/application.ts';
import { findCustomer } from '../lookup.ts';
import { accepted, notFound, operatorContext } from '../output.ts';

const TOKEN_BYTES = 32;

/** `token create | list | revoke`. */
export function addTokenCommands(program: Command, tools: CommandTools): void {
  const token = program.command('token').description('API tokens of customers');
  leaf(token, 'create <customer>', 'issue a token, printed once')
    .option('--label <label>', 'what it is for', '')
    .action((customer: string, options: { label: string; json?: boolean }) =>
      tools.withApplication(async (application) => {
        const { customerId } = await findCustomer(application, customer);
        const tokenId = application.ids.uuid();
        const secret = `edw_${Buffer.from(application.ids.random(TOKEN_BYTES)).toString('base64url')}`;
        const sha256 = createHash('sha256').update(secret).digest('hex');
        const command = { type: 'IssueApiToken', data: { tokenId, label: options.label, sha256 } } as const;
        accepted(await application.customers.handle(customerId, command, operatorContext(application.ids)));
        outputOf(options, tools).object({ id: tokenId, token: secret }, [
          `token (shown once): ${secret}`,
          `id: ${tokenId}`,
        ]);
      }),
    );
  leaf(token, 'list [customer]', 'list tokens').action((customer: string | undefined, options: { json?: boolean }) =>
    tools.withApplication(async (application) => {
      const states =
        customer === undefined ? await allCustomers(application) : [await findCustomer(application, customer)];
      const rows = states.flatMap(({ name, tokens }) =>
        [...tokens.values()].map(({ tokenId, label }) => ({ id: tokenId, customer: name, label })),
      );
      outputOf(options, tools).table(['id', 'customer', 'label'], rows);
    }),
  );
  leaf(token, 'revoke <token-id>', 'make a token worthless').action((tokenId: string, options: { json?: boolean }) =>
    tools.withApplication(async (application) => {
      const owner = (await allCustomers(application)).find(({ tokens }) => tokens.has(tokenId));
      if (owner === undefined) throw notFound(`token ${tokenId} not found.`);
      const command = { type: 'RevokeApiToken', data: { tokenId } } as const;
      accepted(await application.customers.handle(owner.customerId, command, operatorContext(application.ids)));
      outputOf(options, tools).object({ id: tokenId, revoked: true }, [`token ${tokenId} revoked`]);
    }),
  );
}

async function allCustomers(application: Application): Promise<readonly Registered[]> {
  const { customers } = (await application.directory.state(DIRECTORY_ID)).state;
  const states = await Promise.all([...customers.keys()].map((id) => application.customers.state(id)));
  return states.flatMap(({ state }) => (state.phase === 'registered' ? [state] : []));
}
