package dev.parley.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.client.NewFork;
import dev.parley.client.NewMessage;
import dev.parley.client.ParleyClient;
import dev.parley.client.Rewind;
import dev.parley.client.StreamFilter;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.ContextView;
import dev.parley.protocol.MessageView;
import dev.parley.protocol.Position;
import dev.parley.protocol.TaskState;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// The real program, started as people start it.
@Timeout(180)
class ServeIT {

  @TempDir Path data;

  @Test
  void it_says_one_line_serves_and_ends_in_order() throws Exception {
    try (var server = RealProcess.serve(data)) {
      var url = server.url();
      assertThat(server.out()).containsExactly("Parley is ready: " + url);
      assertThat(Files.readString(data.resolve("server.json")))
          .contains(url.toString(), "\"pid\":" + server.pid());

      try (var client = new ParleyClient(url);
          var answer = client.ask("count to 20")) {
        assertThat(answer.text()).contains("1 2 3", "20");
        assertThat(answer.outcome()).contains(TaskState.COMPLETED);
      }

      assertThat(server.terminate()).isZero();
      assertThat(server.out()).hasSize(1);
      assertThat(data.resolve("server.json")).doesNotExist();
    }
  }

  @Test
  void what_was_said_before_a_kill_is_there_after_it() throws Exception {
    try (var first = RealProcess.serve(data);
        var client = new ParleyClient(first.url());
        var answer = client.ask("count to 20")) {
      var text = answer.text();
      var context = answer.accepted().contextId();
      var before = client.events(context, Position.START, 1000, StreamFilter.ALL).entries();
      first.kill();

      try (var second = RealProcess.serve(data);
          var again = new ParleyClient(second.url())) {
        assertThat(text).isNotEmpty();
        assertThat(again.events(context, Position.START, 1000, StreamFilter.ALL).entries())
            .isEqualTo(before);
      }
    }
  }

  @Test
  void a_rewind_and_a_fork_outlive_a_kill() throws Exception {
    try (var first = RealProcess.serve(data);
        var client = new ParleyClient(first.url());
        var left = client.ask("say left")) {
      assertThat(left.text()).contains("left");
      var context = left.accepted().contextId();
      var head = client.context(context).position().seq();
      var fork = client.fork(context, NewFork.at(head)).contextId();
      client.rewind(context, Rewind.before(left.accepted().taskId()));
      try (var right = client.sendAndStream(context, NewMessage.text("say right"))) {
        assertThat(right.text()).contains("right");
      }
      client.deleteContext(client.fork(context, NewFork.OF_ALL).contextId());
      first.kill();

      try (var second = RealProcess.serve(data);
          var again = new ParleyClient(second.url())) {
        assertThat(contents(again, context)).containsExactly("say right", "right");
        assertThat(contents(again, fork)).containsExactly("say left", "left");
        assertThat(again.context(fork).forkedFrom())
            .isEqualTo(new ContextView.ForkedFrom(context, head));
        assertThat(again.contexts(null, 10).items()).hasSize(2);
      }
    }
  }

  private static List<String> contents(ParleyClient client, ContextId context) {
    return client.messages(context, null, 10).items().stream().map(MessageView::content).toList();
  }

  @Test
  void a_second_server_on_the_same_data_is_told_so() throws Exception {
    try (var first = RealProcess.serve(data);
        var second = RealProcess.run("serve", "--port", "0", "--data", data.toString())) {
      assertThat(second.await()).isEqualTo(1);
      assertThat(second.out()).isEmpty();
      assertThat(second.err()).hasSize(1).first().asString().contains("in use", "--data");
      assertThat(first.url()).isNotNull();
    }
  }

  @Test
  void a_port_that_is_taken_is_told_so() throws Exception {
    try (var first = RealProcess.serve(data);
        var other =
            RealProcess.run(
                "--port", "" + first.url().getPort(), "--data", data.resolve("other").toString())) {
      assertThat(other.await()).isEqualTo(1);
      assertThat(other.err()).hasSize(1).first().asString().contains("cannot listen", "--port");
      assertThat(data.resolve("other")).doesNotExist();
    }
  }

  @Test
  void a_configuration_that_is_wrong_is_told_so() throws Exception {
    var config = Files.writeString(data.resolve("parley.yaml"), "colour: blue\n");
    try (var server =
        RealProcess.run("--config", config.toString(), "--port", "0", "--data", data.toString())) {
      assertThat(server.await()).isEqualTo(2);
      assertThat(server.err()).hasSize(1).first().asString().contains("colour");
    }
  }

  @Test
  void a_message_can_be_sent_from_the_shell() throws Exception {
    try (var server = RealProcess.serve(data);
        var chat = RealProcess.run("chat", "--data", data.toString(), "say hello")) {
      assertThat(chat.await()).isZero();
      assertThat(String.join("\n", chat.out())).contains("hello");
      assertThat(chat.err()).isEmpty();
      assertThat(server.url()).isNotNull();
    }
  }

  @Test
  void warming_up_works_and_unpacks_the_library_of_sqlite() throws Exception {
    var libraries = Files.createDirectory(data.resolve("libraries"));
    var option = List.of("-Dorg.sqlite.lib.path=" + libraries);
    try (var program = RealProcess.run(option, "warm-up")) {
      assertThat(program.await()).isZero();
    }
    try (var files = Files.list(libraries)) {
      assertThat(files.map(file -> file.getFileName().toString()))
          .containsExactly(System.mapLibraryName("sqlitejdbc"));
    }
  }

  @Test
  void a_signal_ends_the_warm_up() throws Exception {
    try (var program = RealProcess.run("warm-up")) {
      program.url();

      assertThat(program.terminate()).isNotZero();
    }
  }

  @Test
  void a_library_of_sqlite_that_cannot_be_loaded_is_not_used() throws Exception {
    var libraries = Files.createDirectory(data.resolve("libraries"));
    Files.writeString(libraries.resolve(System.mapLibraryName("sqlitejdbc")), "damaged");
    var option = List.of("-Dorg.sqlite.lib.path=" + libraries);
    try (var server = RealProcess.run(option, "serve", "--port", "0", "--data", data.toString())) {
      assertThat(server.url()).isNotNull();
    }
  }
}
