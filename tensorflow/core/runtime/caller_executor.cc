// The executor of sessions in this process: the stock one, fed by a CallerQueue as long as runs are short.

#include <algorithm>
#include <atomic>
#include <cfenv>
#include <memory>
#include <mutex>
#include <utility>

#include "tensorflow/core/common_runtime/device_mgr.h"
#include "tensorflow/core/common_runtime/executor.h"
#include "tensorflow/core/common_runtime/executor_factory.h"
#include "tensorflow/core/common_runtime/local_executor_params.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/graph/graph.h"
#include "tensorflow/core/platform/cpu_info.h"
#include "tensorflow/core/platform/denormal.h"
#include "tensorflow/core/platform/env_time.h"
#include "tensorflow/core/platform/setround.h"
#include "tensorflow/core/protobuf/config.pb.h"
#include "tensorflow/core/runtime/caller_queue.h"
#include "tensorflow/core/runtime/config_fields.h"
#include "tensorflow/core/util/env_var.h"

namespace tensorflow {
namespace {

using deeprec::runtime::CallerQueue;

// Threads of the pool that a session of this configuration runs on.
int InterOpThreads(const ConfigProto& config) {
  if (config.inter_op_parallelism_threads() != 0) return std::max(1, config.inter_op_parallelism_threads());
  int64_t threads = 0;
  if (!ReadInt64FromEnvVar("TF_NUM_INTEROP_THREADS", 0, &threads).ok() || threads <= 0) threads = port::MaxParallelism();
  return int(threads);
}

// Threads of the pool that may help the one that called.
int AllowedHelpers(const ConfigProto& config) {
  const bool alone = deeprec::runtime::ReadExecutorPolicy(config) == deeprec::runtime::ExecutorPolicy::kInline;
  return alone ? 0 : InterOpThreads(config) - 1;
}

// Whether the session chose pools itself. Those of stages stand behind one that is the session's (deeprec/config/effects.py).
bool HasOwnPools(const ConfigProto& config) {
  const size_t pools = config.session_inter_op_thread_pool_size();
  if (pools == 0) return false;
  const size_t of_stages = deeprec::runtime::ReadConfigFields(config).stage_thread_pools.size();
  return of_stages == 0 || pools != 1 + of_stages;
}

// Of the runs of an executor, how long they take: a mean in which the last ones count most.
class RunTime {
 public:
  // A wake of two threads is some 60 us. Where that is little, the pool's own threads do better: they find work in each other's
  // queues, and the caller takes a processor from kernels that use both.
  bool IsLong() const { return microseconds_.load(std::memory_order_relaxed) > 1000; }

  void Add(uint64_t microseconds) {
    // Of two runs at a time one may be lost.
    const uint64_t before = microseconds_.load(std::memory_order_relaxed);
    microseconds_.store((3 * before + microseconds) / 4, std::memory_order_relaxed);
  }

 private:
  std::atomic<uint64_t> microseconds_{0};
};

class CallerExecutor : public Executor {
 public:
  // `wide`: whether several kernels may be worth a thread each. `narrow`: whether it is certain that they are not, so that no
  // thread is ever called.
  CallerExecutor(std::unique_ptr<Executor> stock, bool wide, bool narrow)
      : stock_(std::move(stock)), wide_(wide), narrow_(narrow) {}

 private:
  void RunAsyncInternal(const Args& args, DoneCallback finish) override {
    const uint64_t start = EnvTime::NowMicros();
    DoneCallback done = [time = time_, start, finish = std::move(finish)](const absl::Status& status) {
      time->Add(EnvTime::NowMicros() - start);
      finish(status);
    };
    // The caller watches the time limit of a run, and can not while it runs ops. Pools of the session's own choice are used as
    // they are.
    if (args.runner == nullptr || args.session_config == nullptr || args.deadline.has_value() ||
        Helpers(*args.session_config) == kOwnPools || (time_->IsLong() && !alone_)) {
      stock_->RunAsync(args, std::move(done));
      return;
    }
    const auto queue = std::make_shared<CallerQueue>(args.runner, Helpers(*args.session_config));
    Args queued = args;
    queued.runner = [queue](Args::Closure closure) { queue->Push(std::move(closure)); };
    stock_->RunAsync(queued, [queue, done = std::move(done)](const absl::Status& status) {
      queue->Finish();
      done(status);
    });
    // The kernels find what they find on threads of the pool.
    const port::ScopedFlushDenormal flush;
    const port::ScopedSetRound round(FE_TONEAREST);
    queue->Drain(wide_);
  }

  static constexpr int kOwnPools = -1;

  // AllowedHelpers, or kOwnPools. Read in the first run: an executor belongs to one session, whose configuration stays.
  int Helpers(const ConfigProto& config) {
    std::call_once(configured_, [&] {
      helpers_ = HasOwnPools(config) ? kOwnPools : narrow_ ? 0 : AllowedHelpers(config);
      alone_ = AllowedHelpers(config) == 0;
    });
    return helpers_;
  }

  const std::unique_ptr<Executor> stock_;
  // A run may end when the session has given the executor up.
  const std::shared_ptr<RunTime> time_ = std::make_shared<RunTime>();
  const bool wide_, narrow_;
  std::once_flag configured_;
  int helpers_ = 0;
  bool alone_ = false;  // who asked for the inline executor, or for one thread, has it for long runs too
};

// Python would find thread-local state of the caller, such as the default graph, where it now finds none.
bool CallsPython(const std::string& op) {
  return op == "PyFunc" || op == "PyFuncStateless" || op == "EagerPyFunc";
}

// Whether the thread that waits for the graph may run it.
bool MayRunInCaller(const LocalExecutorParams& params, const Graph& graph) {
  // Parts of a step on several devices wait for each other: all of them must begin.
  const DeviceMgr* const devices =
      params.function_library == nullptr ? nullptr : params.function_library->device_mgr();
  if (devices == nullptr || devices->ListDevices().size() > 1) return false;
  for (const Node* const node : graph.op_nodes()) {
    if (node->IsRecv() || CallsPython(node->type_string())) return false;
  }
  // The graph itself does not hold the functions that it calls.
  const FunctionLibraryDefinition& functions = *params.function_library->GetFunctionLibraryDefinition();
  for (const std::string& name : functions.ListFunctionNames()) {
    for (const NodeDef& node : functions.Find(name)->node_def()) {
      if (CallsPython(node.op())) return false;
    }
  }
  return true;
}

// Whether a node may run twice at a time, or run others: in a loop, or as a call of a function.
bool MayRunMoreThanItsNodes(const LocalExecutorParams& params, const Graph& graph) {
  const FunctionLibraryDefinition& functions = *params.function_library->GetFunctionLibraryDefinition();
  if (functions.num_functions() > 0) return true;
  return std::any_of(graph.op_nodes().begin(), graph.op_nodes().end(), [](const Node* node) { return node->IsEnter(); });
}

class CallerExecutorFactory : public ExecutorFactory {
 public:
  absl::Status NewExecutor(const LocalExecutorParams& params, const Graph& graph,
                           std::unique_ptr<Executor>* out_executor) override {
    // Counted while the stock executor makes its kernels.
    const auto expensive = std::make_shared<int>(0);
    LocalExecutorParams counting = params;
    counting.create_kernel = [expensive, create = params.create_kernel](
                                 const std::shared_ptr<const NodeProperties>& properties, OpKernel** kernel) {
      TF_RETURN_IF_ERROR(create(properties, kernel));
      *expensive += (*kernel)->IsExpensive();
      return absl::OkStatus();
    };
    Executor* stock;
    TF_RETURN_IF_ERROR(NewLocalExecutor(counting, graph, &stock));
    out_executor->reset(stock);
    if (MayRunInCaller(params, graph)) {
      const bool wide = *expensive > 1;
      const bool narrow = !wide && !MayRunMoreThanItsNodes(params, graph);
      out_executor->reset(new CallerExecutor(std::move(*out_executor), wide, narrow));
    }
    return absl::OkStatus();
  }
};

const bool registered = [] {
  ExecutorFactory::Register("DEEPREC_CALLER", new CallerExecutorFactory);
  return true;
}();

}  // namespace
}  // namespace tensorflow
