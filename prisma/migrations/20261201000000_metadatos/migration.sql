-- Merchant's own texts of a guide, by key; null if there are none. They have no index: a list that filters by them reads a
-- limited number of rows per page.
ALTER TABLE "guia" ADD COLUMN "metadatos" JSONB;
