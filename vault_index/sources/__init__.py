"""Where markdown comes from: finds documents and reads them, and knows nothing of what is made of them."""
