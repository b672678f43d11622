-- What a cluster needed before merchants' statements were run where their rows lie: a count of each merchant's events, and what
-- made a commit one of two phases. The function solicitudes_al_telefono stays, for the version before asks it.
-- Nobody reads it on one PostgreSQL; a cluster is stopped to be upgraded.
-- squawk-ignore ban-drop-table
DROP TABLE "flujo";
-- Nobody reads it on one PostgreSQL; a cluster is stopped to be upgraded.
-- squawk-ignore ban-drop-table
DROP TABLE "dos_fases";
