package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.client.ParleyClient;
import dev.parley.model.FakeModelAnswer;
import dev.parley.model.FakeModelServer;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// What the program's log says of tasks that do not end well.
class TaskFailureLoggerTest {

  private static final Logger LOGGER = Logger.getLogger(TaskFailureLogger.class.getName());

  private final List<String> lines = new CopyOnWriteArrayList<>();
  private final Handler handler =
      new Handler() {
        @Override
        public void publish(LogRecord record) {
          lines.add(record.getLevel() + " " + record.getMessage());
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
      };

  @TempDir Path folder;

  @BeforeEach
  void listen() {
    LOGGER.addHandler(handler);
  }

  @AfterEach
  void stopListening() {
    LOGGER.removeHandler(handler);
  }

  @Test
  void a_task_that_fails_is_one_line_with_ids_agent_code_and_reason() throws Exception {
    try (var model =
            FakeModelServer.scripted(
                FakeModelAnswer.refusing(401, "{\"error\":{\"message\":\"bad key sk-test\"}}"));
        var testServer =
            TestServer.durable(
                folder,
                TestServer.Wish.USUAL,
                "agents: [{id: one}]\nmodels: {m: {provider: openai, apiKey: sk-test, baseUrl: '"
                    + model.url()
                    + "'}}");
        var client = new ParleyClient(testServer.url);
        var answer = client.ask("a very private question")) {
      answer.forEach(_ -> {});
    }

    assertThat(lines)
        .singleElement()
        .asString()
        .matches(
            "WARNING task failed: context=\\S+ task=\\S+ agent=one code=auth reason=.*rejects the"
                + " key.*")
        .doesNotContain("sk-test", "private", "\n");
  }
}
