package dev.parley.log;

import static dev.parley.log.EventLogContract.created;
import static dev.parley.log.ForkContract.forked;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.BlockId;
import dev.parley.protocol.ContentEvent.ContentComplete;
import dev.parley.protocol.ContentEvent.ContentDelta;
import dev.parley.protocol.ContentEvent.FinishReason;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Event;
import dev.parley.protocol.MessageEvent.Message;
import dev.parley.protocol.MessageEvent.Role;
import dev.parley.protocol.MessageId;
import dev.parley.protocol.Origin;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskEvent.TaskComplete;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.ThoughtEvent.InternalCheckpoint;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/// Compares the log with a model under random operations.
///
/// Several workers write to one [BlockLog] with tiny limits. Each worker repeats its operations on
/// its own [MemoryLog] and compares the results. Commits fail at random, before and after they are
/// durable. After each round the log is compared with the models. It is then sometimes closed and
/// opened, and sometimes opened as after a crash. A failure message
/// contains the random seed: `-Dparley.fuzz.seed=N` repeats it, `-Dparley.fuzz.seeds=N` runs N
/// seeds.
final class LogFuzzTest {

  private static final int WORKERS = 4;
  private static final int ROUNDS = 6;
  private static final int OPERATIONS = 60;
  private static final int CONTEXTS_MAX = 8;
  private static final String[] TEXTS = {
    "a", "word ", "\uD83D\uDE00", "é", "\n", "\uD83D", "漢字", "many words ".repeat(9)
  };

  @TempDir Path folder;

  static List<Integer> seeds() {
    var one = Integer.getInteger("parley.fuzz.seed");
    return one != null ? List.of(one) : List.of(1, 2, 3, 4, 5);
  }

  static List<Integer> encryptedSeeds() {
    return seeds().subList(0, 1);
  }

  static List<Integer> manySeeds() {
    var many = new ArrayList<Integer>();
    for (var seed = 100; seed < 100 + Integer.getInteger("parley.fuzz.seeds", 100); seed++) {
      many.add(seed);
    }
    return many;
  }

  @ParameterizedTest
  @MethodSource("seeds")
  void the_log_agrees_with_its_model(int seed) throws Exception {
    new FuzzRun(new SqliteStorage(folder), seed).run();
  }

  @ParameterizedTest
  @MethodSource("manySeeds")
  @Tag("long")
  void the_log_agrees_with_its_model_for_many_seeds(int seed) throws Exception {
    new FuzzRun(new SqliteStorage(folder), seed).run();
  }

  @ParameterizedTest
  @MethodSource("seeds")
  void the_log_on_postgresql_agrees_with_its_model(int seed) throws Exception {
    new FuzzRun(new PostgresStorage(), seed).run();
  }

  @ParameterizedTest
  @MethodSource("encryptedSeeds")
  void the_encrypted_log_agrees_with_its_model(int seed) throws Exception {
    new FuzzRun(new SqliteStorage(folder, TestLogs.encryption(folder)), seed).run();
  }

  @ParameterizedTest
  @MethodSource("manySeeds")
  @Tag("long")
  void the_encrypted_log_agrees_with_its_model_for_many_seeds(int seed) throws Exception {
    new FuzzRun(new SqliteStorage(folder, TestLogs.encryption(folder)), seed).run();
  }

  @ParameterizedTest
  @MethodSource("manySeeds")
  @Tag("long")
  void the_log_on_postgresql_agrees_with_its_model_for_many_seeds(int seed) throws Exception {
    new FuzzRun(new PostgresStorage(), seed).run();
  }

  /// Where the log is, and what a crash leaves of it.
  private interface Storage {

    BlockLog open(FaultInjector faults);

    /// Opens what a crash of the process of `log` would leave now.
    BlockLog openAfterCrash(BlockLog log, FaultInjector faults) throws IOException;
  }

  /// After a crash, the log is opened on a copy of its files.
  private static final class SqliteStorage implements Storage {

    private final Path root;
    private Path folder;
    private final LogEncryption encryption;
    private int copies;

    SqliteStorage(Path root) {
      this(root, LogEncryption.none());
    }

    SqliteStorage(Path root, LogEncryption encryption) {
      this.root = root;
      this.encryption = encryption;
      folder = root.resolve("log");
    }

    @Override
    public BlockLog open(FaultInjector faults) {
      return FaultyStore.open(TestLogs.in(folder, SqliteLogTest.SMALL, encryption), faults);
    }

    @Override
    public BlockLog openAfterCrash(BlockLog log, FaultInjector faults) throws IOException {
      // The database is copied first: the write-ahead log also contains the pages that a
      // checkpoint adds to the database meanwhile.
      var copy = root.resolve("copy-" + copies++);
      TestLogs.copy(folder, copy);
      log.close();
      folder = copy;
      return open(faults);
    }
  }

  /// After a crash, the next node takes over while the process of the first one still runs.
  private static final class PostgresStorage implements Storage {

    private final String url = TestPostgres.createDatabase();

    @Override
    public BlockLog open(FaultInjector faults) {
      return TestPostgres.open(url, store -> new FaultyStore(store, faults));
    }

    @Override
    public BlockLog openAfterCrash(BlockLog log, FaultInjector faults) {
      var next = open(faults);
      log.close();
      return next;
    }
  }

  /// Commits that fail at random.
  private static final class RandomFaults implements FaultInjector {

    private final Random random;
    volatile boolean on = true;

    RandomFaults(int seed) {
      random = new Random(seed);
    }

    @Override
    public void beforeCommit() throws SQLException {
      if (on && random.nextInt(25) == 0) {
        throw new SQLException("database or disk is full");
      }
    }

    @Override
    public void afterCommit() throws SQLException {
      if (on && random.nextInt(25) == 0) {
        throw new SQLException("disk I/O error");
      }
    }
  }

  /// One log, its workers, and all entries that were ever read from it.
  private static final class FuzzRun {

    private final int seed;
    private final Storage storage;
    private final Random random;
    private final List<Worker> workers = new ArrayList<>();
    private final Map<ContextId, List<Entry>> seen = new ConcurrentHashMap<>();
    private final RandomFaults faults;
    private BlockLog log;
    private long mark;

    FuzzRun(Storage storage, int seed) {
      this.seed = seed;
      this.storage = storage;
      random = new Random(seed);
      faults = new RandomFaults(seed);
      log = storage.open(faults);
      for (var number = 0; number < WORKERS; number++) {
        workers.add(new Worker(number, new Random(seed * 31L + number), seen));
      }
    }

    void run() throws Exception {
      try {
        for (var round = 0; round < ROUNDS; round++) {
          work();
          compare();
          restart(random.nextInt(3));
          compare();
        }
      } catch (AssertionError | RuntimeException failed) {
        throw new AssertionError("seed " + seed + ": " + failed.getMessage(), failed);
      } finally {
        log.close();
      }
    }

    private void work() throws InterruptedException, ExecutionException {
      var target = log;
      try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
        var all = new ArrayList<Future<?>>();
        workers.forEach(worker -> all.add(threads.submit(() -> worker.work(target))));
        for (var one : all) {
          one.get();
        }
      }
    }

    private void compare() {
      faults.on = false;
      var open = new LinkedHashSet<ContextId>();
      for (var worker : workers) {
        worker.compareAll(log);
        open.addAll(worker.model.withOpenTasks());
      }
      assertThat(log.withOpenTasks()).containsExactlyInAnyOrderElementsOf(open);
      var changed = new LinkedHashSet<ContextId>();
      for (var changedContexts = log.changes(mark, 3); changedContexts.mark() > mark; ) {
        changed.addAll(changedContexts.contexts());
        mark = changedContexts.mark();
        changedContexts = log.changes(mark, 3);
      }
      for (var worker : workers) {
        assertThat(changed).containsAll(worker.touched);
        worker.touched.clear();
      }
      faults.on = true;
    }

    private void restart(int how) throws IOException {
      switch (how) {
        case 0 -> {}
        case 1 -> {
          log.close();
          log = storage.open(faults);
        }
        default -> log = storage.openAfterCrash(log, faults);
      }
    }
  }

  /// Runs random operations on its own contexts and on a model of them.
  private static final class Worker {

    private final int number;
    private final Random random;
    private final Map<ContextId, List<Entry>> seen;
    private final MemoryLog model = new MemoryLog();
    private final List<ContextId> contexts = new ArrayList<>();
    private final List<ContextId> deleted = new ArrayList<>();
    private final Map<ContextId, StreamingTask> streams = new HashMap<>();
    final LinkedHashSet<ContextId> touched = new LinkedHashSet<>();
    private final AtomicInteger names = new AtomicInteger();

    /// A task of a context that streams a block of text.
    private static final class StreamingTask {
      final Origin origin;
      @Nullable BlockId block;
      int index;

      StreamingTask(Origin origin) {
        this.origin = origin;
      }
    }

    Worker(int number, Random random, Map<ContextId, List<Entry>> seen) {
      this.number = number;
      this.random = random;
      this.seen = seen;
    }

    private String name(String kind) {
      return kind + "-" + number + "-" + names.incrementAndGet();
    }

    void work(EventLog log) {
      for (var done = 0; done < OPERATIONS; done++) {
        if (contexts.isEmpty()) {
          create(log);
          continue;
        }
        var context = contexts.get(random.nextInt(contexts.size()));
        switch (random.nextInt(20)) {
          case 0, 1 -> create(log);
          case 2, 3 -> fork(log, context);
          case 4 -> delete(log, context);
          case 5 -> readSome(log, context);
          case 6 -> appendOnce(log, context);
          case 7 -> appendStale(log, context);
          case 8 -> useDeleted(log);
          case 9, 10, 11 -> append(log, context, message(random.nextInt(3_000)));
          default -> stream(log, context);
        }
      }
    }

    private String text(int length) {
      var text = new StringBuilder(name("text"));
      while (text.length() < length) {
        text.append(TEXTS[random.nextInt(TEXTS.length)]);
      }
      return text.toString();
    }

    private EventDraft message(int length) {
      var id = new MessageId(name("message"));
      return EventDraft.of(new Message(id, Role.USER, text(length), null, null));
    }

    private void create(EventLog log) {
      if (contexts.size() >= CONTEXTS_MAX) {
        return;
      }
      var context = new ContextId(name("context"));
      if (both(log, context, one -> one.create(context, created()))) {
        contexts.add(context);
      }
    }

    private void fork(EventLog log, ContextId source) {
      if (contexts.size() >= CONTEXTS_MAX) {
        return;
      }
      var fork = new ContextId(name("fork"));
      // Sometimes beyond the end, which is rejected.
      var at = 1 + random.nextLong(model.head(source).seq() + (random.nextInt(8) == 0 ? 2 : 0));
      var beyond = at > model.head(source).seq();
      if (both(log, fork, one -> one.fork(fork, forked(source, at))) && !beyond) {
        contexts.add(fork);
      }
    }

    private void delete(EventLog log, ContextId context) {
      var gone =
          both(
              log,
              context,
              one -> {
                one.delete(context);
                return true;
              });
      if (gone) {
        contexts.remove(context);
        deleted.add(context);
        streams.remove(context);
        seen.remove(context);
      }
    }

    private void useDeleted(EventLog log) {
      if (!deleted.isEmpty()) {
        var context = deleted.get(random.nextInt(deleted.size()));
        both(log, null, one -> one.head(context));
        both(log, null, one -> one.create(context, created()));
        both(log, null, one -> one.append(context, AppendGuard.none(), _ -> List.of()));
      }
    }

    private void appendOnce(EventLog log, ContextId context) {
      var key =
          new AppendGuard.IdempotencyKey(
              "local", "key-" + random.nextInt(4), "hash-" + random.nextInt(2));
      var eventDraft = message(10);
      both(log, context, one -> one.append(context, key, Decision.always(eventDraft)));
    }

    private void appendStale(EventLog log, ContextId context) {
      var head = model.head(context);
      var at = random.nextBoolean() ? head : Position.of(Math.max(1, head.seq() - 1));
      var eventDraft = message(10);
      both(
          log,
          context,
          one ->
              one.append(context, new AppendGuard.ExpectedHead(at), Decision.always(eventDraft)));
    }

    /// Runs the next step of the context's task: starts it, writes text, ends a block, ends the
    /// task.
    private void stream(EventLog log, ContextId context) {
      var streamingTask = streams.get(context);
      if (streamingTask == null) {
        var origin = Origin.root(new TaskId(name("task")), new AgentTypeId("agent"));
        var begun =
            append(
                log,
                context,
                new EventDraft(origin, EventLogContract.taskCreated().event()),
                new EventDraft(origin, new TaskStatus(TaskState.WORKING, null, null)));
        if (begun) {
          streams.put(context, new StreamingTask(origin));
        }
        return;
      }
      switch (random.nextInt(12)) {
        case 0 -> endTask(log, context, streamingTask);
        case 1, 2 -> endBlock(log, context, streamingTask);
        case 3 ->
            append(
                log,
                context,
                draft(streamingTask, new InternalCheckpoint(random.nextInt(9), null)));
        default -> write(log, context, streamingTask);
      }
    }

    private void write(EventLog log, ContextId context, StreamingTask streamingTask) {
      var block = streamingTask.block == null ? new BlockId(name("block")) : streamingTask.block;
      var drafts = new ArrayList<EventDraft>();
      for (var i = 0; i < 1 + random.nextInt(6); i++) {
        var delta = TEXTS[random.nextInt(TEXTS.length)];
        drafts.add(draft(streamingTask, new ContentDelta(delta, streamingTask.index + i, block)));
      }
      if (append(log, context, drafts.toArray(EventDraft[]::new))) {
        streamingTask.block = block;
        streamingTask.index += drafts.size();
      }
    }

    private void endBlock(EventLog log, ContextId context, StreamingTask streamingTask) {
      if (streamingTask.block != null && append(log, context, end(context, streamingTask))) {
        streamingTask.block = null;
        streamingTask.index = 0;
      }
    }

    private void endTask(EventLog log, ContextId context, StreamingTask streamingTask) {
      var drafts = new ArrayList<EventDraft>();
      if (streamingTask.block != null) {
        drafts.add(end(context, streamingTask));
      }
      drafts.add(draft(streamingTask, new TaskStatus(TaskState.COMPLETED, null, null)));
      drafts.add(draft(streamingTask, new TaskComplete("done", null, null)));
      if (append(log, context, drafts.toArray(EventDraft[]::new))) {
        streams.remove(context);
      }
    }

    /// The end of the open block, with the text of all its deltas.
    private EventDraft end(ContextId context, StreamingTask streamingTask) {
      var text = new StringBuilder();
      for (var entry : model.read(context, Position.START, Integer.MAX_VALUE)) {
        if (entry.event() instanceof ContentDelta delta
            && streamingTask.block != null
            && streamingTask.block.equals(delta.blockId())) {
          text.append(delta.delta());
        }
      }
      return draft(
          streamingTask,
          new ContentComplete(
              text.toString(), streamingTask.block, FinishReason.STOP, null, null, null));
    }

    private static EventDraft draft(StreamingTask streamingTask, Event event) {
      return new EventDraft(streamingTask.origin, event);
    }

    private boolean append(EventLog log, ContextId context, EventDraft... drafts) {
      return both(
          log, context, one -> one.append(context, AppendGuard.none(), Decision.always(drafts)));
    }

    /// Runs an operation on the log and on the model, and compares the results. Returns false and
    /// leaves the model unchanged if the store could not be written.
    private <T> boolean both(
        EventLog log, @Nullable ContextId changed, Function<EventLog, T> operation) {
      var outcome = outcome(() -> operation.apply(log));
      if (outcome instanceof Rejection.Unavailable) {
        return false;
      }
      var expected = outcome(() -> operation.apply(model));
      assertThat(comparable(outcome)).isEqualTo(comparable(expected));
      if (changed != null
          && !(expected instanceof Rejection)
          && !(expected instanceof AppendResult appendResult && appendResult.replayed())) {
        touched.add(changed);
      }
      return true;
    }

    private static Object outcome(Supplier<?> operation) {
      try {
        return operation.get();
      } catch (Rejection rejection) {
        return rejection;
      }
    }

    private static Object comparable(Object outcome) {
      return outcome instanceof Rejection rejection ? rejection.code() : outcome;
    }

    private void readSome(EventLog log, ContextId context) {
      var entries = model.read(context, Position.START, Integer.MAX_VALUE);
      var from = entries.get(random.nextInt(entries.size())).position();
      var limit = 1 + random.nextInt(40);
      assertThat(facts(log.read(context, from, limit)))
          .isEqualTo(facts(model.read(context, from, limit)));
    }

    void compareAll(EventLog log) {
      for (var context : contexts) {
        var entries = readAll(log, context);
        assertThat(facts(entries))
            .isEqualTo(facts(model.read(context, Position.START, Integer.MAX_VALUE)));
        var before = seen.getOrDefault(context, List.of());
        assertThat(entries.subList(0, before.size())).isEqualTo(before);
        seen.put(context, entries);
        assertThat(log.head(context)).isEqualTo(model.head(context));
        assertThat(log.owner(context)).isEqualTo(model.owner(context));
      }
      for (var context : deleted) {
        both(log, null, one -> one.head(context));
      }
    }

    private List<Entry> readAll(EventLog log, ContextId context) {
      var entries = new ArrayList<Entry>();
      var page = log.read(context, Position.START, 1 + random.nextInt(50));
      while (!page.isEmpty()) {
        entries.addAll(page);
        page = log.read(context, page.getLast().position(), 1 + random.nextInt(50));
      }
      return entries;
    }

    /// The parts of an entry that must be equal in the log and in the model: all but ids and times.
    private static List<List<Object>> facts(List<Entry> entries) {
      return entries.stream()
          .map(
              entry ->
                  List.<Object>of(entry.position(), String.valueOf(entry.origin()), entry.event()))
          .toList();
    }
  }
}
