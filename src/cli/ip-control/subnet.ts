import type { Command } from 'commander';
import { findRegion } from '../../application/ip-control/lookups.ts';
import { addSubnet, listSubnets, removeSubnet, subnetsAssignedAt } from '../../application/ip-control/subnets.ts';
import { act, type ActOptions, type CommandTools, listing, type ListOptions, narrowed, outputOf } from '../command.ts';
import { accepted, operatorContext, usage } from '../output.ts';

type AddOptions = ActOptions & Readonly<{ region: string; asn: string; metro: string }>;

/** `subnet add | list | remove`. */
export function addSubnetCommands(program: Command, tools: CommandTools): void {
  const subnet = program.command('subnet').description('subnets of customers');
  act(subnet, 'add <customer> <cidr>', 'assign a subnet to a customer')
    .requiredOption('--region <region>', 'whose routers hold its lists')
    .requiredOption('--asn <n>', 'autonomous system number')
    .requiredOption('--metro <metro>', 'where it is')
    .action((customer: string, text: string, options: AddOptions) =>
      tools.withApplication(async (application) => {
        const { region, metro } = options;
        if (!/^\d{1,10}$/.test(options.asn)) throw usage('--asn must be a whole number.');
        const wanted = { customer, cidr: text, region, asn: Number(options.asn), metro };
        const added = accepted(await addSubnet(wanted, operatorContext(application.ids, options), application));
        const { subnetId: id, customer: name, cidr, asn } = added;
        outputOf(options, tools).object({ id, customer: name, cidr, region, asn, metro }, [
          `subnet ${cidr} assigned to ${name} (id ${id})`,
        ]);
      }),
    );
  listing(subnet, 'list [customer]', 'list subnets', {
    region: 'those of one region',
    since: 'those assigned',
  }).action((customer: string | undefined, options: ListOptions) =>
    tools.withApplication(async (application) => {
      const region = options.region === undefined ? undefined : accepted(await findRegion(options.region, application));
      const subnets = accepted(await listSubnets(customer, application));
      const assignedAt = await subnetsAssignedAt(application);
      const all = subnets
        .filter(({ regionId }) => region === undefined || regionId === region.regionId)
        .map((one) => ({
          id: one.subnetId,
          customer: one.customer,
          cidr: one.cidr,
          region: one.region,
          asn: one.asn,
          metro: one.metro,
          created_at: assignedAt.get(one.subnetId) ?? null,
        }));
      const now = application.clock.now();
      const rows = narrowed(all, options, { now, at: ({ created_at: at }) => at });
      outputOf(options, tools).table(['id', 'customer', 'cidr', 'region', 'asn', 'metro'], rows);
    }),
  );
  act(subnet, 'remove <subnet-id>', 'take a subnet back; what is disabled in it leaves the routers').action(
    (number: string, options: ActOptions) =>
      tools.withApplication(async (application) => {
        const removed = accepted(await removeSubnet(number, operatorContext(application.ids, options), application));
        const { subnetId: id, cidr } = removed;
        outputOf(options, tools).object({ id, cidr }, [`subnet ${cidr} removed`]);
      }),
  );
}
