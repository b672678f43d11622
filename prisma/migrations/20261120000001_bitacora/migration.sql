-- What the schema language can't say: the audit record is written and never changed, not even by the tables' owner. Grants
-- stop whoever isn't a superuser, triggers everybody.
create function solo_se_agrega() returns trigger language plpgsql as $$
begin
  raise exception '% is append-only', tg_table_name using errcode = 'insufficient_privilege';
end
$$;

create trigger solo_se_agrega before update or delete or truncate on bitacora
  for each statement execute function solo_se_agrega();
create trigger solo_se_agrega before update or delete or truncate on eslabon
  for each statement execute function solo_se_agrega();
create trigger solo_se_agrega before update or delete or truncate on sello
  for each statement execute function solo_se_agrega();

revoke update, delete, truncate on bitacora, eslabon, sello from public, current_user;
