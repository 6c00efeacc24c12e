package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.protocol.Json;
import java.nio.file.Path;
import java.sql.DriverManager;
import java.sql.SQLException;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// The server says that it answers also while its views cannot be written, as on a full disk.
class HealthWithoutViewsTest {

  @TempDir Path folder;

  @ParameterizedTest
  @CsvSource({"/api/health, activeAgents", "/health, active_agents"})
  void health_is_200_while_the_views_cannot_take_in_what_is_new(String path, String count)
      throws SQLException {
    try (var testServer = TestServer.durable(folder, TestServer.Wish.USUAL)) {
      assertThat(testServer.get(path).statusCode()).isEqualTo(200);
      var file = folder.resolve("data").resolve("views.db");
      try (var other = DriverManager.getConnection("jdbc:sqlite:" + file);
          var statement = other.createStatement()) {
        statement.execute("BEGIN IMMEDIATE");
        testServer.context("new");

        var health = testServer.get(path);

        assertThat(health.statusCode()).as(health.body()).isEqualTo(200);
        var body = Json.mapper().readTree(health.body());
        assertThat(body.path("status").asString()).isEqualTo("ok");
        assertThat(body.path(count).asInt(-1)).isZero();
        statement.execute("ROLLBACK");
      }
    }
  }
}
