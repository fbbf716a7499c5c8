import type { Command } from 'commander';
import { DIRECTORY_ID } from '../../commands/ip-control/directory.ts';
import { isAddressProblem } from '../../addresses/address-problem.ts';
import { formatCidr, parseCidr } from '../../addresses/cidr.ts';
import { type CommandTools, leaf, outputOf } from '../command.ts';
import { findCustomer, findRegion } from '../lookup.ts';
import { accepted, notFound, operatorContext, usage } from '../output.ts';

type AddOptions = Readonly<{ region: string; asn: string; metro: string; json?: boolean }>;

/** `subnet add | list | remove`. */
export function addSubnetCommands(program: Command, tools: CommandTools): void {
  const subnet = program.command('subnet').description('subnets of customers');
  leaf(subnet, 'add <customer> <cidr>', 'assign a subnet to a customer')
    .requiredOption('--region <region>', 'whose routers hold its lists')
    .requiredOption('--asn <n>', 'autonomous system number')
    .requiredOption('--metro <metro>', 'where it is')
    .action((customer: string, text: string, options: AddOptions) =>
      tools.withApplication(async (application) => {
        const { customerId, name } = await findCustomer(application, customer);
        const { regionId } = await findRegion(application, options.region);
        const parsed = parseCidr(text);
        if (isAddressProblem(parsed)) throw usage(`cidr: ${parsed.problem}`);
        if (!/^\d{1,10}$/.test(options.asn)) throw usage('--asn must be a whole number.');
        const wanted = {
          customerId,
          cidr: formatCidr(parsed),
          regionId,
          asn: Number(options.asn),
          metro: options.metro,
        };
        const context = operatorContext(application.ids);
        const reserved = accepted(
          await application.directory.handle(DIRECTORY_ID, { type: 'ReserveSubnet', data: wanted }, context),
        );
        const event = reserved.events.find(({ type }) => type === 'SubnetReserved');
        if (event?.type !== 'SubnetReserved') throw new Error('a reservation without its event');
        const { subnetId, cidr, asn, metro } = event.data;
        const data = { subnetId, cidr, regionId, asn, metro };
        accepted(await application.customers.handle(customerId, { type: 'AssignSubnet', data }, context));
        outputOf(options, tools).object({ id: subnetId, customer: name, cidr, region: options.region, asn, metro }, [
          `subnet ${cidr} assigned to ${name} (id ${subnetId})`,
        ]);
      }),
    );
  leaf(subnet, 'list [customer]', 'list subnets').action((customer: string | undefined, options: { json?: boolean }) =>
    tools.withApplication(async (application) => {
      const only = customer === undefined ? undefined : (await findCustomer(application, customer)).customerId;
      const { subnets, customers, regions } = (await application.directory.state(DIRECTORY_ID)).state;
      const rows = [...subnets.values()]
        .filter(({ customerId }) => only === undefined || customerId === only)
        .map(({ subnetId, customerId, cidr, regionId, asn, metro }) => ({
          id: subnetId,
          customer: customers.get(customerId)?.name,
          cidr,
          region: regions.get(regionId),
          asn,
          metro,
        }));
      outputOf(options, tools).table(['id', 'customer', 'cidr', 'region', 'asn', 'metro'], rows);
    }),
  );
  addRemoveCommand(subnet, tools);
}

function addRemoveCommand(subnet: Command, tools: CommandTools): void {
  leaf(subnet, 'remove <subnet-id>', 'take a subnet back; what is disabled in it leaves the routers').action(
    (id: string, options: { json?: boolean }) =>
      tools.withApplication(async (application) => {
        const { subnets } = (await application.directory.state(DIRECTORY_ID)).state;
        const reserved = /^\d{1,15}$/.test(id) ? subnets.get(Number(id)) : undefined;
        if (reserved === undefined) throw notFound(`subnet ${id} not found.`);
        const { subnetId, customerId, cidr } = reserved;
        const context = operatorContext(application.ids);
        // The customer lets go first: nobody else may be given the addresses before.
        accepted(
          await application.customers.handle(customerId, { type: 'ReleaseSubnet', data: { subnetId } }, context),
        );
        accepted(
          await application.directory.handle(
            DIRECTORY_ID,
            { type: 'ReleaseSubnetReservation', data: { subnetId } },
            context,
          ),
        );
        outputOf(options, tools).object({ id: subnetId, cidr }, [`subnet ${cidr} removed`]);
      }),
  );
}
