"""The server: WiseFL decides every round who trains; the model is tested here."""

from flwr.app import ArrayRecord, Context, MetricRecord
from flwr.serverapp import Grid, ServerApp

from fashion import learning
from fashion.data import dataset_of
from wisefl import Limits
from wisefl.flower import Messages, Patience, Trust, WiseStrategy

app = ServerApp()


@app.main()
def main(grid: Grid, context: Context) -> None:
    config = context.run_config
    dataset = dataset_of(config)
    model = learning.model_of(dataset, config)
    images, labels = learning.tensors(dataset)

    def evaluate(round: int, arrays: ArrayRecord) -> MetricRecord:
        model.load_state_dict(arrays.to_torch_state_dict())
        loss, accuracy = learning.test(model, images, labels)
        return MetricRecord({"loss": loss, "accuracy": accuracy})

    limits = Limits(
        epochs=int(config["local-epochs"]),
        bits_per_sample=dataset.bits_per_sample,
        max_divergence=float(config["max-divergence"]),
        min_samples=max(1, int(float(config["coverage"]) * len(dataset.train_labels))),
    )
    grace_s = float(config["grace-s"])
    strategy = WiseStrategy(
        str(config["policy"]),
        limits,
        int(config["seed"]),
        patience=Patience(grace_s=grace_s, query_timeout_s=grace_s),
        trust=Trust(min_clients=int(config["min-clients"])),
        messages=Messages(dataset=dataset.name),
        run_folder=str(config["run-folder"]) or None,
    )
    strategy.start(
        grid,
        initial_arrays=ArrayRecord(model.state_dict()),
        num_rounds=int(config["num-server-rounds"]),
        evaluate_fn=evaluate,
    )
