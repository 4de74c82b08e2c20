BEGIN TRANSACTION;
CREATE TABLE "_sqlite_migrations" (
   "id" INTEGER PRIMARY KEY,
   "migration_set" TEXT,
   "name" TEXT,
   "applied_at" TEXT
);
INSERT INTO "_sqlite_migrations" VALUES(1,'nsys-analyze','1: runs and their samples','2026-11-30 17:43:20.414676+00:00');
CREATE TABLE "environments" (
   "id" INTEGER PRIMARY KEY,
   "key" TEXT NOT NULL,
   "gpus" TEXT NOT NULL,
   "cpu" TEXT,
   "driver" TEXT,
   "nsys" TEXT,
   "trace" TEXT,
   "sampling" INTEGER,
   "context_switches" INTEGER,
   "graph_mode" TEXT,
   "settings" TEXT NOT NULL
);
INSERT INTO "environments" VALUES(1,'a1ae1871c289cecc9a4b4232be37940c6d9dd414e76419b5606b32ddb659279a','["NVIDIA H200"]','x86_64','580','2025.3','cuda,nvtx',0,NULL,'node','attribution process, folding default');
CREATE TABLE "reports" (
   "id" INTEGER PRIMARY KEY,
   "run" INTEGER NOT NULL REFERENCES "runs"("id"),
   "environment" INTEGER NOT NULL REFERENCES "environments"("id"),
   "name" TEXT NOT NULL,
   "content" TEXT NOT NULL,
   "broken" TEXT,
   "lost_launches" INTEGER NOT NULL
);
INSERT INTO "reports" VALUES(1,1,1,'r.sqlite','10e7c6b4c883b00472ba2b89bf65737fb0eaa146f418c84c95ffb1b91338e1d5',NULL,0);
CREATE TABLE "runs" (
   "id" INTEGER PRIMARY KEY,
   "made_at" TEXT NOT NULL,
   "tool" TEXT NOT NULL,
   "label" TEXT,
   "commit_id" TEXT
);
INSERT INTO "runs" VALUES(1,'2026-06-01T00:00:00+00:00','0.1.0','main','c1');
CREATE TABLE "samples" (
   "stage" INTEGER REFERENCES "stages"("id"),
   "quantity" TEXT,
   "value" REAL,
   "instances" TEXT,
   PRIMARY KEY ("stage", "quantity")
);
INSERT INTO "samples" VALUES(1,'pace',NULL,'[2000000,2000000,2000000,2000000,2000000,2000000,2000000,2000000,2000000,2000000,2000000,2000000,2000000,2000000,2000000,2000000,2000000,2000000,2000000,2000000,2000000,2000000,2000000,2000000,2000000,2000000,2000000,2000000,2000000,2000000]');
INSERT INTO "samples" VALUES(1,'startup_gap',NULL,'[1000000,200000,200000,200000,200000,200000,200000,200000,200000,200000,200000,200000,200000,200000,200000,200000,200000,200000,200000,200000,200000,200000,200000,200000,200000,200000,200000,200000,200000,200000,200000]');
INSERT INTO "samples" VALUES(1,'startup_gap_prelude',NULL,'[null,199999.5,199999.5,199999.5,199999.5,199999.5,199999.5,199999.5,199999.5,199999.5,199999.5,199999.5,199999.5,199999.5,199999.5,199999.5,199999.5,199999.5,199999.5,199999.5,199999.5,199999.5,199999.5,199999.5,199999.5,199999.5,199999.5,199999.5,199999.5,199999.5,199999.5]');
INSERT INTO "samples" VALUES(1,'kernels',NULL,'[60,60,60,60,60,60,60,60,60,60,60,60,60,60,60,60,60,60,60,60,60,60,60,60,60,60,60,60,60,60,60]');
INSERT INTO "samples" VALUES(1,'gpu_active',300000.0,NULL);
INSERT INTO "samples" VALUES(1,'launch_call',5000.0,NULL);
CREATE TABLE "stages" (
   "id" INTEGER PRIMARY KEY,
   "report" INTEGER NOT NULL REFERENCES "reports"("id"),
   "path" TEXT NOT NULL,
   "domains" TEXT NOT NULL,
   "process" INTEGER NOT NULL,
   "loop" INTEGER NOT NULL,
   "holds_loop" INTEGER NOT NULL,
   "active_ns" INTEGER NOT NULL,
   "finished" INTEGER NOT NULL,
   "unfinished" INTEGER NOT NULL,
   "launches" REAL,
   "calls_ns" TEXT
);
INSERT INTO "stages" VALUES(1,1,'["steady", "step"]','["", ""]',0,1,0,9000000,31,0,60.0,'[500000,500000,500000,500000,500000,500000,500000,500000,500000,500000,500000,500000,500000,500000,500000,500000,500000,500000,500000,500000,500000,500000,500000,500000,500000,500000,500000,500000,500000,500000,500000]');
CREATE UNIQUE INDEX "idx__sqlite_migrations_migration_set_name"
    ON "_sqlite_migrations" ("migration_set", "name");
CREATE UNIQUE INDEX "idx_environments_key"
    ON "environments" ("key");
CREATE INDEX "idx_runs_label"
    ON "runs" ("label");
CREATE INDEX "idx_reports_run"
    ON "reports" ("run");
CREATE INDEX "idx_stages_report"
    ON "stages" ("report");
COMMIT;
