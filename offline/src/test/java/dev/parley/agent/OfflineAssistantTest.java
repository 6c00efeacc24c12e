package dev.parley.agent;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.protocol.ArtifactEvent.DataWrite;
import dev.parley.protocol.ArtifactEvent.DatasetWrite;
import dev.parley.protocol.ArtifactEvent.FileWrite;
import dev.parley.protocol.ContentEvent.ContentComplete;
import dev.parley.protocol.ContentEvent.ContentDelta;
import dev.parley.protocol.ContentEvent.FinishReason;
import dev.parley.protocol.Kind;
import dev.parley.protocol.ReportEvent.ErrorCode;
import dev.parley.protocol.ReportEvent.ErrorReported;
import dev.parley.protocol.ReportEvent.Usage;
import dev.parley.protocol.TaskEvent.TaskComplete;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.ThoughtEvent.InternalLlmCall;
import dev.parley.protocol.ThoughtEvent.ThoughtStream;
import dev.parley.protocol.ThoughtEvent.ThoughtType;
import dev.parley.protocol.ThoughtEvent.Verbosity;
import dev.parley.protocol.ToolEvent.ToolComplete;
import dev.parley.protocol.ToolEvent.ToolProgress;
import dev.parley.protocol.ToolEvent.ToolStart;
import dev.parley.task.TaskTestBed;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class OfflineAssistantTest {

  @TempDir Path folder;

  private TaskTestBed taskTestBed;

  @BeforeEach
  void open() {
    taskTestBed = TestAssistant.world(folder);
  }

  @AfterEach
  void close() {
    taskTestBed.close();
  }

  @Test
  void a_plain_answer_is_streamed_and_has_every_event_in_its_place() throws Exception {
    var task = done("say Hello, dear world.");

    assertThat(taskTestBed.kinds(task))
        .containsExactly(
            Kind.TASK_CREATED,
            Kind.TASK_STATUS,
            Kind.INTERNAL_LLM_CALL,
            Kind.CONTENT_DELTA,
            Kind.CONTENT_DELTA,
            Kind.CONTENT_DELTA,
            Kind.CONTENT_COMPLETE,
            Kind.USAGE,
            Kind.MESSAGE,
            Kind.TASK_STATUS,
            Kind.TASK_COMPLETE);
    assertThat(taskTestBed.answer(task).content()).isEqualTo("Hello, dear world.");
    var block = taskTestBed.events(task, ContentComplete.class).getFirst();
    assertThat(block.finishReason()).isEqualTo(FinishReason.STOP);
    assertThat(block.content()).isEqualTo("Hello, dear world.");
    assertThat(taskTestBed.events(task, ContentDelta.class))
        .allMatch(delta -> delta.blockId().equals(block.blockId()))
        .extracting(ContentDelta::index)
        .containsExactly(0, 1, 2);
    var usage = taskTestBed.events(task, Usage.class).getFirst();
    assertThat(usage.model()).isEqualTo("offline");
    assertThat(usage.outputTokens()).isEqualTo(5);
    var complete = taskTestBed.events(task, TaskComplete.class).getFirst();
    assertThat(complete.metadata().path("tokensUsed").asLong())
        .isEqualTo(usage.inputTokens() + usage.outputTokens());
    assertThat(complete.metadata().path("iterations").asInt()).isEqualTo(1);
  }

  @Test
  void counting_gives_a_delta_a_number() throws Exception {
    var task = done("Count to 2000!");

    assertThat(taskTestBed.events(task, ContentDelta.class)).hasSize(2000);
    assertThat(taskTestBed.answer(task).content())
        .isEqualTo(
            IntStream.rangeClosed(1, 2000)
                .mapToObj(Integer::toString)
                .collect(Collectors.joining(" ")));
  }

  @Test
  void slow_counting_is_slow_and_can_be_canceled() throws Exception {
    var task = taskTestBed.submit("count slowly to 100000").taskId();
    taskTestBed.awaitKind(task, Kind.CONTENT_DELTA);
    taskTestBed.tasks().cancel(TaskTestBed.CONTEXT, task, "local", null);

    assertThat(taskTestBed.awaitEnd(task)).isEqualTo(TaskState.CANCELED);
    assertThat(taskTestBed.answer(task).content()).startsWith("1");
  }

  @Test
  void thinking_gives_thoughts_of_several_kinds_and_lengths() throws Exception {
    var task = done("think about rivers");

    var thoughts = taskTestBed.events(task, ThoughtStream.class);
    assertThat(thoughts).extracting(ThoughtStream::index).containsExactly(0, 1, 2, 3);
    assertThat(thoughts)
        .extracting(ThoughtStream::thoughtType)
        .contains(ThoughtType.PLANNING, ThoughtType.REASONING, ThoughtType.DECISION);
    assertThat(thoughts)
        .extracting(ThoughtStream::verbosity)
        .contains(Verbosity.BRIEF, Verbosity.NORMAL, Verbosity.DETAILED);
    assertThat(thoughts.get(1).metadata().path("confidence").asDouble()).isEqualTo(0.8);
    assertThat(thoughts.get(2).metadata().path("alternatives").size()).isEqualTo(2);
    assertThat(taskTestBed.answer(task).content()).contains("rivers");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "calculate 2+3*4 | 14",
        "what is 2+3*4? | 14",
        "What's (1+2)^10 | 59049",
        "compute 1/0 | divided by zero",
      })
  void sums_are_worked_out(String text, String expected) throws Exception {
    assertThat(taskTestBed.answer(done(text)).content()).contains(expected);
  }

  @Test
  void files_are_listed_read_and_searched() throws Exception {
    Files.writeString(folder.resolve("notes.txt"), "one\nthe Needle is here\n");

    assertThat(taskTestBed.answer(done("what files are here?")).content()).contains("notes.txt");
    assertThat(taskTestBed.answer(done("read notes.txt")).content()).contains("the Needle is here");
    assertThat(taskTestBed.answer(done("search for needle")).content()).contains("notes.txt:2:");
    assertThat(taskTestBed.answer(done("read ../secret")).content()).contains("no such file");
  }

  @Test
  void a_tool_call_has_its_events_in_order_and_the_models_wish_before_them() throws Exception {
    var task = done("what time is it?");

    assertThat(taskTestBed.kinds(task))
        .containsSubsequence(
            Kind.CONTENT_COMPLETE,
            Kind.INTERNAL_CHECKPOINT,
            Kind.TOOL_START,
            Kind.TOOL_COMPLETE,
            Kind.INTERNAL_LLM_CALL,
            Kind.CONTENT_COMPLETE,
            Kind.TASK_COMPLETE);
    var wish = taskTestBed.events(task, ContentComplete.class).getFirst();
    assertThat(wish.finishReason()).isEqualTo(FinishReason.TOOL_CALLS);
    var start = taskTestBed.events(task, ToolStart.class).getFirst();
    assertThat(wish.toolCalls().getFirst().id()).isEqualTo(start.toolCallId());
    assertThat(start.metadata().path("provider").asString()).isEqualTo("local");
    assertThat(start.key()).isEqualTo(task + "/" + start.toolCallId());
    var complete = taskTestBed.events(task, ToolComplete.class).getFirst();
    assertThat(complete.success()).isTrue();
    assertThat(complete.metadata().has("duration")).isTrue();
  }

  @Test
  void csv_files_become_a_dataset_a_data_record_and_a_report() throws Exception {
    Files.writeString(folder.resolve("sales.csv"), "item,price\ntea,2.5\ncoffee,3.5\n\"a, b\",6\n");
    Files.writeString(folder.resolve("Towns.CSV"), "town,people\nUlm,100\nBonn,300\n");
    Files.writeString(folder.resolve("other.txt"), "no,table\n");
    var task = done("Summarise the CSV files here.");

    var starts = taskTestBed.events(task, ToolStart.class);
    assertThat(starts)
        .extracting(ToolStart::toolName)
        .containsExactly("list_files", "read_file", "read_file", "dataset", "data", "report");
    var batches = taskTestBed.events(task, DatasetWrite.class);
    assertThat(batches).hasSizeGreaterThan(1);
    assertThat(batches.stream().mapToInt(batch -> batch.rows().size()).sum()).isEqualTo(5);
    assertThat(batches).extracting(DatasetWrite::index).isSorted();
    assertThat(batches.getLast().complete()).isTrue();
    assertThat(batches.getFirst().schema()).isNotNull();
    assertThat(batches.get(1).schema()).isNull();
    assertThat(batches.get(1).name()).isNull();
    assertThat(batches.getFirst().metadata().path("toolCallId").asString())
        .isEqualTo(starts.get(3).toolCallId().value());
    var data = taskTestBed.events(task, DataWrite.class).getFirst();
    assertThat(data.data().at("/files/1/numeric/price/mean").asDouble()).isEqualTo(4.0);
    assertThat(data.version()).isEqualTo(1);
    var chunks = taskTestBed.events(task, FileWrite.class);
    assertThat(chunks).hasSizeGreaterThan(1);
    assertThat(chunks.getFirst().mimeType()).isEqualTo("text/markdown");
    assertThat(chunks.get(1).mimeType()).isNull();
    assertThat(chunks.stream().map(FileWrite::data).collect(Collectors.joining()))
        .contains("| sales.csv | 3 | item, price |")
        .contains("| people | 100 | 300 | 200 |");
    assertThat(taskTestBed.events(task, ToolProgress.class)).isNotEmpty();
    assertThat(taskTestBed.answer(task).content())
        .contains("2 CSV files")
        .contains("price from 2.5 to 6");
    assertThat(taskTestBed.events(task, TaskComplete.class).getFirst().artifacts())
        .extracting(Object::toString)
        .containsExactly("csv-rows", "csv-summary", "csv-report.md");
  }

  @Test
  void artifacts_that_are_written_again_get_the_next_version() throws Exception {
    done("write a report on cats");
    var task = done("write a report on dogs");

    assertThat(taskTestBed.events(task, FileWrite.class))
        .hasSizeGreaterThan(1)
        .allMatch(chunk -> chunk.version() == 2);
    assertThat(taskTestBed.answer(task).content()).contains("version 2");
  }

  @Test
  void without_csv_files_it_says_how_to_get_one() throws Exception {
    var answer = taskTestBed.answer(done("summarize the csv files")).content();

    assertThat(answer).startsWith("There are no CSV files here.");
    var command = answer.lines().filter(line -> line.startsWith("run ")).findFirst().orElseThrow();
    new ProcessBuilder("sh", "-c", command.substring("run ".length()))
        .directory(folder.toFile())
        .start()
        .waitFor();
    assertThat(taskTestBed.answer(done("summarize the csv files")).content())
        .contains("towns.csv: 2 rows, columns town, people");
  }

  @Test
  void an_empty_csv_file_is_told_from_none() throws Exception {
    Files.writeString(folder.resolve("empty.csv"), "");
    assertThat(taskTestBed.answer(done("summarize the csv files")).content())
        .contains("empty.csv is empty");
  }

  @Test
  void a_model_that_fails_ends_the_task_with_its_code() throws Exception {
    var task = taskTestBed.submit("fail").taskId();

    assertThat(taskTestBed.awaitEnd(task)).isEqualTo(TaskState.FAILED);
    assertThat(taskTestBed.events(task, ErrorReported.class).getFirst().code())
        .isEqualTo(ErrorCode.MODEL_ERROR);
  }

  @Test
  void a_loop_runs_into_its_limit() throws Exception {
    var task = taskTestBed.submit("loop").taskId();

    assertThat(taskTestBed.awaitEnd(task)).isEqualTo(TaskState.FAILED);
    assertThat(taskTestBed.events(task, ErrorReported.class).getFirst().code())
        .isEqualTo(ErrorCode.LIMIT);
    assertThat(taskTestBed.events(task, InternalLlmCall.class)).hasSize(50);
  }

  @ParameterizedTest
  @ValueSource(strings = {"ask me my name", "sign in to mail", "run ls", "delegate x to a and b"})
  void what_needs_a_tool_that_is_not_there_is_declined(String text) throws Exception {
    assertThat(taskTestBed.answer(done(text)).content()).contains("I need the tool");
  }

  @Test
  void help_lists_the_phrases_and_anything_else_is_answered() throws Exception {
    assertThat(taskTestBed.answer(done("HELP!")).content()).contains("count to N", "summarise");
    assertThat(taskTestBed.answer(done("Wie geht's? 🙂")).content())
        .contains("Wie geht's? 🙂", "help");
  }

  private TaskId done(String text) throws InterruptedException {
    var task = taskTestBed.submit(text).taskId();
    assertThat(taskTestBed.awaitEnd(task)).isEqualTo(TaskState.COMPLETED);
    return task;
  }
}
