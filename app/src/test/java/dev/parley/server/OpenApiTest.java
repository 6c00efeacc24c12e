package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.protocol.Json;
import dev.parley.protocol.Kind;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/// What the server says of itself is what it does.
class OpenApiTest {

  @TempDir Path folder;
  private TestServer testServer;

  @BeforeEach
  void open() {
    testServer = TestServer.open(folder);
  }

  @AfterEach
  void close() {
    testServer.close();
  }

  @Test
  void every_path_that_is_described_exists_with_exactly_these_methods() throws IOException {
    var paths = document().path("paths");
    assertThat(paths.size()).isGreaterThan(20);
    for (var path : paths.properties()) {
      var allowed = testServer.raw(request("OPTIONS", path.getKey()));
      var header = Pattern.compile("Allow: (.*)\r").matcher(allowed);
      assertThat(header.find()).as(path.getKey()).isTrue();
      assertThat(header.group(1).toLowerCase(Locale.ROOT).split(", "))
          .filteredOn(method -> !method.equals("head") && !method.equals("options"))
          .containsExactlyInAnyOrderElementsOf(path.getValue().propertyNames());
    }
  }

  @Test
  void every_variable_of_a_path_is_described_and_every_reference_leads_somewhere() {
    var document = document();
    for (var path : document.path("paths").properties()) {
      var variables =
          Pattern.compile("\\{(\\w+)}").matcher(path.getKey()).results().map(m -> m.group(1));
      for (var operation : path.getValue()) {
        assertThat(operation.path("parameters"))
            .filteredOn(parameter -> parameter.path("in").asString().equals("path"))
            .extracting(parameter -> parameter.path("name").asString())
            .containsExactlyInAnyOrderElementsOf(variables.toList());
        variables =
            Pattern.compile("\\{(\\w+)}").matcher(path.getKey()).results().map(m -> m.group(1));
        assertThat(operation.path("summary").asString()).isNotBlank();
      }
    }
    for (var reference : document.findValuesAsString("$ref")) {
      var name = reference.replace("#/components/schemas/", "");
      assertThat(document.path("components").path("schemas").has(name)).as(reference).isTrue();
    }
  }

  @Test
  void the_schema_of_events_has_every_kind() {
    var schema = Json.mapper().readTree(testServer.get("/schemas/events.json").body());
    for (var kind : Kind.values()) {
      assertThat(schema.path("$defs").has(kind.wire())).as(kind.wire()).isTrue();
    }
  }

  @Test
  void the_front_page_says_how_to_begin() {
    var text = testServer.get("/", "Accept", "text/plain");
    assertThat(text.statusCode()).isEqualTo(200);
    assertThat(text.body()).contains("curl").contains(testServer.url.toString());
    for (var page : List.of(testServer.get("/"), testServer.get("/", "Accept", "*/*"))) {
      assertThat(page.headers().firstValue("Content-Type").orElseThrow()).startsWith("text/html");
      assertThat(page.headers().firstValue("Content-Security-Policy")).isPresent();
    }
  }

  @Test
  void metrics_count_requests_by_status_and_streams() {
    testServer.get("/healthz");
    testServer.get("/nowhere");
    var text = testServer.get("/metrics").body();
    assertThat(text)
        .contains("# TYPE parley_requests_total counter")
        .contains("parley_requests_total{status=\"200\"}")
        .contains("parley_requests_total{status=\"404\"} 1")
        .contains("parley_streams_open 0")
        .contains("parley_append_seconds_bucket");
  }

  @Test
  void agent_types_are_listed() {
    var list = Json.mapper().readTree(testServer.get("/api/agent-types").body());
    assertThat(list.path("items").valueStream().map(type -> type.path("id").asString()))
        .containsExactly(
            "supervisor", "agent-code", "agent-research", "agent-data", "agent-writer");
  }

  private JsonNode document() {
    var reply = testServer.get("/openapi.json");
    assertThat(reply.statusCode()).isEqualTo(200);
    return Json.mapper().readTree(reply.body());
  }

  private static String request(String method, String path) {
    return method
        + " "
        + path.replaceAll("\\{\\w+}", "x")
        + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
  }
}
