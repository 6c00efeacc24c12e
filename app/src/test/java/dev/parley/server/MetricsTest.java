package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.client.ParleyClient;
import dev.parley.http.Metric;
import dev.parley.http.Metrics;
import dev.parley.model.FakeModelAnswer;
import dev.parley.model.FakeModelServer;
import dev.parley.protocol.ContextId;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// `/metrics`, read as strictly as the exposition format is written down.
class MetricsTest {

  private static final Pattern SAMPLE =
      Pattern.compile(
          "([a-zA-Z_:][a-zA-Z0-9_:]*)"
              + "(?:\\{([a-zA-Z_][a-zA-Z0-9_]*=\"(?:[^\"\\\\\\n]|\\\\[\\\\\"n])*\""
              + "(?:,[a-zA-Z_][a-zA-Z0-9_]*=\"(?:[^\"\\\\\\n]|\\\\[\\\\\"n])*\")*)})?"
              + " (NaN|[+-]Inf|-?\\d+(?:\\.\\d+)?(?:E-?\\d+)?)");

  @TempDir Path folder;

  @Test
  void every_metric_has_help_and_type_and_the_text_is_well_formed() throws Exception { // CORE-21
    try (var model =
            FakeModelServer.answering(
                receivedRequest ->
                    receivedRequest.afterCall()
                        ? FakeModelAnswer.saying("42")
                        : FakeModelAnswer.calling("c1", "calculator", "{\"expression\":\"6*7\"}"));
        var testServer = site(model)) {
      ask(testServer, "calculate");

      var samples = parsed(testServer.get("/metrics").body());

      assertThat(samples)
          .containsEntry("parley_tasks_ended_total{state=\"completed\",code=\"\"}", 1.0)
          .containsEntry("parley_model_requests_total{model=\"m\",result=\"ok\"}", 2.0)
          .containsEntry("parley_model_request_seconds_count{model=\"m\"}", 2.0)
          .containsEntry("parley_model_tokens_total{model=\"gpt-5\",kind=\"input\"}", 20.0)
          .containsEntry("parley_model_tokens_total{model=\"gpt-5\",kind=\"output\"}", 10.0)
          .containsEntry("parley_model_cost_dollars_total{model=\"gpt-5\"}", 0.00004)
          .containsEntry("parley_tool_calls_total{tool=\"calculator\",result=\"ok\"}", 1.0)
          .containsEntry("parley_tool_call_seconds_count{tool=\"calculator\"}", 1.0)
          .containsEntry("parley_log_writable", 1.0)
          .containsEntry("parley_build_info{version=\"" + ParleyVersion.text() + "\"}", 1.0);
      assertThat(ParleyVersion.text()).matches("\\d+\\.\\d+\\.\\d+.*");
      assertThat(samples.get("parley_commit_seconds_count")).isPositive();
      assertThat(samples.get("jvm_memory_used_bytes{area=\"heap\"}")).isPositive();
      assertThat(samples.get("jvm_carrier_threads")).isPositive();
      assertThat(samples.get("parley_data_bytes{file=\"log.db\"}")).isPositive();
    }
  }

  @Test
  void errors_of_a_model_are_counted_by_kind_and_retries_too() throws Exception {
    try (var model =
            FakeModelServer.scripted(
                FakeModelAnswer.refusing(503, "{}"),
                FakeModelAnswer.refusing(401, "{\"error\":{\"message\":\"no\"}}"));
        var testServer = site(model)) {
      ask(testServer, "hello");

      assertThat(parsed(testServer.get("/metrics").body()))
          .containsEntry("parley_model_requests_total{model=\"m\",result=\"auth\"}", 1.0)
          .containsEntry("parley_model_retries_total{model=\"m\"}", 1.0)
          .containsEntry("parley_tasks_ended_total{state=\"failed\",code=\"auth\"}", 1.0);
    }
  }

  @Test
  void readers_replays_and_gaps_are_counted() throws Exception {
    try (var model = FakeModelServer.scripted(FakeModelAnswer.saying("ok"));
        var testServer = site(model)) {
      var context = ask(testServer, "hello");
      try (var past =
              EventReader.open(
                  testServer,
                  "GET /api/contexts/" + context + "/stream?after=0",
                  "",
                  "Accept",
                  "text/event-stream");
          var future =
              EventReader.open(
                  testServer,
                  "GET /api/contexts/" + context + "/stream?after=9999",
                  "",
                  "Accept",
                  "text/event-stream")) {
        past.next();
        past.next();
        future.next();
        future.next();
      }

      var samples = parsed(testServer.get("/metrics").body());
      assertThat(samples)
          .containsEntry("parley_stream_gaps_total{reason=\"ahead-of-head\"}", 1.0)
          .containsKey("parley_reader_lag_events");
      // The client that asked may have come late, too.
      assertThat(samples.get("parley_stream_replays_total")).isBetween(1.0, 2.0);
      assertThat(samples.get("parley_stream_replayed_events_total")).isGreaterThan(3);
    }
  }

  @Test
  void a_metric_has_a_bounded_number_of_series() {
    var metrics = new Metrics();
    for (var i = 0; i < 1_000; i++) {
      metrics.counter(Metric.TOOL_CALLS, "tool \"" + i + "\\\n", "ok").increment();
    }

    var samples = parsed(metrics.exposition());

    assertThat(samples.keySet())
        .filteredOn(key -> key.startsWith("parley_tool_calls_total"))
        .hasSize(101);
    assertThat(samples)
        .containsEntry("parley_tool_calls_total{tool=\"other\",result=\"other\"}", 900.0);
  }

  private TestServer site(FakeModelServer model) {
    return TestServer.durable(
        folder,
        TestServer.Wish.USUAL,
        """
        agents: [{id: one}]
        models: {m: {provider: openai, model: gpt-5, apiKey: k, baseUrl: '%s', prices: {input: 1, output: 2}}}
        """
            .formatted(model.url()));
  }

  private static ContextId ask(TestServer testServer, String words) throws InterruptedException {
    try (var client = new ParleyClient(testServer.url);
        var answer = client.ask(words)) {
      var seen = new AtomicReference<ContextId>();
      answer.forEach(entry -> seen.set(entry.contextId()));
      // A reader sees the end of a task before it is counted.
      while (testServer.tasks.running() > 0) {
        Thread.onSpinWait();
      }
      return seen.get();
    }
  }

  /// The samples by name and labels.
  private static Map<String, Double> parsed(String text) {
    assertThat(text).endsWith("\n");
    var samples = new LinkedHashMap<String, Double>();
    var types = new HashMap<String, String>();
    var helped = new HashSet<String>();
    var family = "";
    for (var line : text.lines().toList()) {
      if (line.startsWith("# HELP ")) {
        var words = line.split(" ", 4);
        assertThat(words).as(line).hasSize(4);
        assertThat(helped.add(words[2])).as(line).isTrue();
        family = words[2];
      } else if (line.startsWith("# TYPE ")) {
        var words = line.split(" ");
        assertThat(words).as(line).hasSize(4);
        assertThat(words[2]).isEqualTo(family);
        assertThat(words[3]).isIn("counter", "gauge", "histogram");
        assertThat(types.put(words[2], words[3])).as(line).isNull();
      } else {
        var sample = SAMPLE.matcher(line);
        assertThat(sample.matches()).as(line).isTrue();
        var base =
            "histogram".equals(types.get(family))
                ? sample.group(1).replaceFirst("_(bucket|sum|count)$", "")
                : sample.group(1);
        assertThat(base).as(line).isEqualTo(family);
        assertThat(family.endsWith("_total"))
            .as(line)
            .isEqualTo("counter".equals(types.get(family)));
        var key = line.substring(0, line.lastIndexOf(' '));
        assertThat(samples.put(key, Double.valueOf(sample.group(3).replace("Inf", "Infinity"))))
            .as(line)
            .isNull();
      }
    }
    assertThat(helped)
        .isEqualTo(types.keySet())
        .containsExactlyInAnyOrderElementsOf(
            Arrays.stream(Metric.values()).map(Metric::title).toList());
    return samples;
  }
}
