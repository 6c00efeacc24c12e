package dev.parley.log;

/// The contract on PostgreSQL.
final class PostgresLogTest extends EventLogContract {

  @Override
  EventLog open() {
    return TestPostgres.open(TestPostgres.createDatabase());
  }
}
