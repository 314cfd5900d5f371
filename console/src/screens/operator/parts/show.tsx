import { Link } from '~/app/link.tsx';
import { Id, isUuid } from '~/ui/index.ts';

/** `client:<id>`, `person:<id>`, `rail:wire`, `cli:<user>` */
export function ActorText({ text }: { readonly text: string }) {
  const [kind = '', ...rest] = text.split(':');
  const id = rest.join(':');
  if (id === '') return isUuid(text) ? <Id id={text} of="id" /> : <span>{text}</span>;
  return (
    <span>
      {kind} {isUuid(id) ? <Id id={id} of={`${kind} id`} /> : id}
    </span>
  );
}

/** The customer, with a link that opens their screens as they see them. */
export function Customer({ id }: { readonly id: string | undefined }) {
  if (id === undefined) return undefined;
  return (
    <span className="inline-flex flex-wrap items-center gap-x-3">
      <Id id={id} of="customer id" />
      <Link to={`/transfers?customer=${id}`} className="text-xs text-accent hover:underline">
        Look at this customer
      </Link>
    </span>
  );
}
