-- Writes that PostgreSQL refuses if a later holder of the lock has written: the fence is checked by the database itself, in
-- the transaction of the write, so that a writer that was suspended in between cannot do harm.
--
--     psql -f fence.sql                          once
--     begin;
--     select check_fence('stock', :fence);       -- the fence that LOCK gave: an error if it is stale
--     update stock set …;
--     commit;
--
-- The row of the resource stays locked until the end of the transaction: nobody passes between the check and the write.

create table if not exists fences (
    resource text primary key,
    fence bigint not null check (fence > 0)
);

create or replace function check_fence(resource_checked text, fence_given bigint) returns void
language plpgsql as $$
begin
    insert into fences as f (resource, fence) values (resource_checked, fence_given)
    on conflict (resource) do update set fence = excluded.fence where f.fence <= excluded.fence;
    if not found then
        raise exception 'stale fence % for %', fence_given, resource_checked
            using errcode = 'BT001', hint = 'a later holder of the lock has been here; yours is lost';
    end if;
end
$$;

-- Where the rows written are few, the fence can stand in each of them, without a function: no row updated means that the
-- fence is stale.
--
--     update stock set amount = amount - 1, fence = :fence where item = 'pen' and fence <= :fence;
