package dev.parley.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.protocol.Json;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Responses of the API that is compatible with OpenAI continue after the real program was killed.
@Timeout(180)
class OpenAiKillIT {

  private static final int COUNT = 60;

  @TempDir Path data;
  private final HttpClient http = HttpClient.newHttpClient();

  @Test
  void a_stream_continues_after_the_last_number_that_the_client_saw() throws Exception {
    var seen = new ArrayList<JsonNode>();
    try (var server = RealProcess.serve(data)) {
      var body = request("count slowly to " + COUNT).put("stream", true).put("background", true);
      try (var lines = lines(post(server.url(), body))) {
        var frames = lines.iterator();
        while (seen.size() < 12) {
          add(seen, frames.next());
        }
        server.kill();
      }
    }
    var id = seen.getFirst().path("response").path("id").asString();
    var last = seen.getLast().path("sequence_number").asLong();
    try (var server = RealProcess.serve(data)) {
      var rest = "/v1/responses/" + id + "?stream=true&starting_after=" + last;
      try (var lines = lines(HttpRequest.newBuilder(server.url().resolve(rest)).build())) {
        lines.forEach(line -> add(seen, line));
      }

      assertThat(seen.stream().map(event -> event.path("sequence_number").asInt()))
          .isEqualTo(IntStream.range(0, seen.size()).boxed().toList());
      var done = seen.getLast();
      assertThat(done.path("type").asString()).isEqualTo("response.completed");
      assertThat(text(done.path("response"))).isEqualTo(numbers());
      assertThat(get(server.url(), "/v1/responses/" + id)).isEqualTo(done.path("response"));
    }
  }

  @Test
  void a_function_call_waits_for_its_result_while_the_server_is_down() throws Exception {
    JsonNode asked;
    var tool = Json.object().put("type", "function").put("name", "get_weather");
    tool.putObject("parameters").put("type", "object");
    try (var server = RealProcess.serve(data)) {
      var body = request("use get_weather {\"city\":\"Oslo\"}");
      body.putArray("tools").add(tool);
      asked = send(post(server.url(), body));
      server.kill();
    }
    var call =
        asked
            .path("output")
            .valueStream()
            .filter(item -> item.path("type").asString().equals("function_call"))
            .findFirst()
            .orElseThrow();
    try (var server = RealProcess.serve(data)) {
      var body = Json.object().put("model", "agent-code");
      body.put("previous_response_id", asked.path("id").asString());
      body.putArray("input")
          .addObject()
          .put("type", "function_call_output")
          .put("call_id", call.path("call_id").asString())
          .put("output", "sunny");
      assertThat(text(send(post(server.url(), body)))).contains("sunny");
    }
  }

  private static String numbers() {
    return IntStream.rangeClosed(1, COUNT)
        .mapToObj(Integer::toString)
        .collect(Collectors.joining(" "));
  }

  private static String text(JsonNode response) {
    return response
        .path("output")
        .valueStream()
        .filter(item -> item.path("type").asString().equals("message"))
        .map(item -> item.path("content").path(0).path("text").asString())
        .collect(Collectors.joining());
  }

  private static ObjectNode request(String input) {
    return Json.object().put("model", "agent-code").put("input", input);
  }

  private static HttpRequest post(URI server, ObjectNode body) {
    return HttpRequest.newBuilder(server.resolve("/v1/responses"))
        .header("Content-Type", "application/json")
        .POST(BodyPublishers.ofString(body.toString()))
        .build();
  }

  private JsonNode send(HttpRequest request) throws IOException, InterruptedException {
    var reply = http.send(request, BodyHandlers.ofString());
    assertThat(reply.statusCode()).as(reply.body()).isEqualTo(200);
    return Json.mapper().readTree(reply.body());
  }

  private JsonNode get(URI server, String path) throws IOException, InterruptedException {
    return send(HttpRequest.newBuilder(server.resolve(path)).build());
  }

  private Stream<String> lines(HttpRequest request) throws IOException, InterruptedException {
    return http.send(request, BodyHandlers.ofLines()).body();
  }

  private static void add(List<JsonNode> seen, String line) {
    if (line.startsWith("data: ")) {
      seen.add(Json.mapper().readTree(line.substring("data: ".length())));
    }
  }
}
